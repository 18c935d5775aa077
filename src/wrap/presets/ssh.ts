import { isOn, option, type Preset } from './preset.js';

/**
 * ssh(1) gives the command, in one string, to the login shell on the other host. Variables are in that string, and so in the command lines
 * of ssh and of that shell; with `send_env` they go by the protocol instead (SendEnv), which the server has to allow (AcceptEnv), and a
 * command that would miss one is not run. 255 is ssh's own failure.
 */
export const ssh: Preset = {
  about: 'another host',
  prefix: ['ssh', '-T'],
  operand: { about: 'the host', count: 'one' },
  facts: {
    envStyle: 'remote-shell',
    ttyOption: ['-tt'],
    endOfOptions: '--',
    commandStyle: 'string',
    failureCodes: [255],
    farSide: 'marker',
  },
  options: {
    send_env: { kind: 'switch', about: 'variables by SendEnv, in no command line; the server must accept them' },
    config: { kind: 'text', about: 'another ssh_config', words: option('-F') },
    user: { kind: 'text', about: 'the account', words: option('-l') },
    port: { kind: 'text', about: 'the port', words: option('-p') },
    identity: { kind: 'text', about: 'the key file', words: option('-i') },
    jump: { kind: 'text', about: 'the host to go through', words: option('-J') },
    option: { kind: 'list', about: 'an option of ssh_config, as Name=value', words: option('-o') },
  },
  adjust: ({ options }) => (isOn(options, 'send_env') ? { facts: { envStyle: 'option-by-name', envOption: '-oSendEnv=' } } : {}),
};
