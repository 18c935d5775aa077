// What a launcher is started with (scrubbed, so that the environment it makes is the same for every caller), and what the session
// declares on top of the result. DESIGN section 4 "Environment policy". Pure but for a look for shims on the PATH; text is latin1, one character a byte.

import { join } from 'node:path';

import type { SessionDefinition } from './definition.js';
import { bytesOf } from './host-environment.js';
import type { BytePairs } from './record.js';
import { pathWithoutShims } from './shim-directory.js';

/** Who the user is, where things are, how text looks, how the network is reached: nothing that steers a build. NODE_* never. */
const PASSED = new Set(['HOME', 'USER', 'LOGNAME', 'SHELL', 'PATH', 'TERM', 'LANG', 'LANGUAGE', 'TZ', 'TZDIR', 'TMPDIR', 'LOCALE_ARCHIVE']);
const PASSED_PREFIXES = ['LC_', 'XDG_', 'NIX_'];
const CERTIFICATES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'REQUESTS_CA_BUNDLE'];
const PROXIES = ['http_proxy', 'https_proxy', 'ftp_proxy', 'rsync_proxy', 'all_proxy', 'no_proxy'];
for (const name of [...CERTIFICATES, ...PROXIES, ...PROXIES.map((proxy) => proxy.toUpperCase())]) PASSED.add(name);

/** Never taken from a caller by `*`: they speak of the caller's own shell, or are ours. */
const OF_THE_CALLER = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);

/**
 * The launcher's environment.
 *
 * @param share the folder of the bash files, of which one is named in BASH_ENV where the style needs it.
 * @param isBash the launcher itself is bash: share/launcher-env.sh says what differs.
 */
export function launchEnvironment(
  definition: Pick<SessionDefinition, 'launch' | 'launchPassEnv'>,
  host: ReadonlyMap<string, string>,
  { share, isBash }: { share: string; isBash: boolean },
): Map<string, string> {
  const named = new Set(definition.launchPassEnv.map(bytesOf));
  const environment = new Map<string, string>();
  for (const [name, value] of host) {
    if (isPassed(name) || named.has(name) || (named.has('*') && isForTargets(name))) {
      environment.set(name, name === 'PATH' ? pathWithoutShims(value) : value);
    }
  }
  // The source styles export the functions themselves.
  if (definition.launch.style === 'source' || definition.launch.style === 'source-command') return environment;
  const own = environment.get('BASH_ENV');
  if (own !== undefined && own !== '') environment.set('HOLDFAST_USER_BASH_ENV', own);
  const bashEnv = bytesOf(join(share, isBash ? 'launcher-env.sh' : 'bash-env.sh'));
  environment.set('BASH_ENV', bashEnv);
  environment.set('HOLDFAST_LAUNCH', bashEnv);
  return environment;
}

/** The same without what leads to the entry shim. */
export function launchedVariables(
  definition: Pick<SessionDefinition, 'launch' | 'launchPassEnv'>,
  host: ReadonlyMap<string, string>,
): BytePairs {
  const environment = launchEnvironment(definition, host, { share: '', isBash: false });
  const users = environment.get('HOLDFAST_USER_BASH_ENV');
  if (users === undefined) environment.delete('BASH_ENV');
  else environment.set('BASH_ENV', users);
  return [...environment].filter(([name]) => !name.startsWith('HOLDFAST_'));
}

/** `env`, then `runtime_env`, then the values of `pass_env`: the later is the stronger. A name that the caller lacks is left out. */
export function declaredVariables(
  definition: Pick<SessionDefinition, 'env' | 'runtimeEnv' | 'passEnv'>,
  host: ReadonlyMap<string, string>,
): BytePairs {
  const declared = new Map<string, string>();
  for (const [name, value] of [...Object.entries(definition.env), ...Object.entries(definition.runtimeEnv)]) {
    declared.set(bytesOf(name), bytesOf(value));
  }
  for (const name of definition.passEnv.map(bytesOf)) {
    const value = name === '*' ? undefined : host.get(name);
    if (value !== undefined) declared.set(name, value);
  }
  return [...declared];
}

/** What `pass_env = ["*"]` gives: every variable of the caller, to lie beneath the environment. */
export function weakVariables(definition: Pick<SessionDefinition, 'passEnv'>, host: ReadonlyMap<string, string>): BytePairs {
  if (!definition.passEnv.includes('*')) return [];
  return [...host].filter(([name]) => isForTargets(name));
}

function isPassed(name: string): boolean {
  return PASSED.has(name) || PASSED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function isForTargets(name: string): boolean {
  return !OF_THE_CALLER.has(name) && !name.startsWith('HOLDFAST_');
}
