import { flag, option, type Preset } from './preset.js';

/** `/a` is /a in the sandbox too, `/a:/b` is /b there. */
function bind(name: string): (value: string) => readonly string[] {
  return (value) => {
    const colon = value.indexOf(':');
    return colon === -1 ? [name, value, value] : [name, value.slice(0, colon), value.slice(colon + 1)];
  };
}

/**
 * bwrap(1): options take effect in the order in which they are written. It dies with its parent, and all inside with it. Its status has an
 * "exit-code" only of what it has executed (bubblewrap.c, report_child_exit_status; since 0.4), and no part of the inside holds that
 * descriptor. 1 is also what it says of a command that it cannot execute.
 */
export const bubblewrap: Preset = {
  about: 'a sandbox of bind mounts (bwrap)',
  prefix: ['bwrap'],
  operand: { about: '', count: 'none' },
  facts: {
    envStyle: 'inherit',
    cwdOption: '--chdir',
    ttyOption: [],
    endOfOptions: '--',
    failureCodes: [1],
    tells: 'status',
    statusOption: '--json-status-fd',
    farSide: 'local',
  },
  options: {
    die_with_parent: { kind: 'switch', about: 'end with the command’s client', words: flag('--die-with-parent'), isOn: true },
    ro_bind: { kind: 'list', about: 'a directory to see, as HOST or HOST:INSIDE', words: bind('--ro-bind') },
    bind: { kind: 'list', about: 'a directory to write to', words: bind('--bind') },
    dev_bind: { kind: 'list', about: 'a directory with its devices', words: bind('--dev-bind') },
    tmpfs: { kind: 'list', about: 'an empty directory in memory', words: option('--tmpfs') },
    proc: { kind: 'text', about: 'where /proc is to be', words: option('--proc') },
    dev: { kind: 'text', about: 'where a minimal /dev is to be', words: option('--dev') },
    symlink: { kind: 'list', about: 'a link, as TARGET:PLACE', words: bind('--symlink') },
    unshare_all: { kind: 'switch', about: 'every namespace anew', words: flag('--unshare-all') },
    unshare_user: { kind: 'switch', about: 'a user namespace', words: flag('--unshare-user') },
    unshare_pid: { kind: 'switch', about: 'a pid namespace', words: flag('--unshare-pid') },
    unshare_net: { kind: 'switch', about: 'no network', words: flag('--unshare-net') },
    share_net: { kind: 'switch', about: 'the network, with unshare_all', words: flag('--share-net') },
    unshare_ipc: { kind: 'switch', about: 'an ipc namespace', words: flag('--unshare-ipc') },
    unshare_uts: { kind: 'switch', about: 'a host name of its own', words: flag('--unshare-uts') },
    hostname: { kind: 'text', about: 'the host name, with unshare_uts', words: option('--hostname') },
    uid: { kind: 'text', about: 'the user’s number inside, with unshare_user', words: option('--uid') },
    gid: { kind: 'text', about: 'the group’s', words: option('--gid') },
    new_session: { kind: 'switch', about: 'out of the terminal’s reach', words: flag('--new-session') },
    cap_drop: { kind: 'list', about: 'a capability to lose', words: option('--cap-drop') },
    cap_add: { kind: 'list', about: 'a capability to have', words: option('--cap-add') },
  },
  findFault: ({ options }) =>
    ['ro_bind', 'bind', 'dev_bind'].some((name) => options[name] !== undefined)
      ? undefined
      : { message: 'preset "bubblewrap" is given nothing to see', hint: 'such as ro_bind = ["/"] in its options' },
};
