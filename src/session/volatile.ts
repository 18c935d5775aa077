// Which variables say nothing about an environment: they speak of the caller, of the terminal, or of this one opening. The fingerprint
// leaves them out. docs/config.md "Fingerprint" lists them with the reason; a test compares. Pure.

/** A final `*` stands for any ending. */
export const VOLATILE_NAMES: Readonly<Record<string, readonly string[]>> = {
  shell: ['_', 'PWD', 'OLDPWD', 'SHLVL', 'PS1', 'BASH_*'],
  user: ['HOME', 'USER', 'LOGNAME', 'SHELL', 'MAIL', 'HOSTNAME', 'XDG_*'],
  language: ['LANG', 'LANGUAGE', 'LC_*', 'LOCALE_ARCHIVE', 'TZ', 'TZDIR'],
  terminal: ['TERM', 'TERM_*', 'COLORTERM', 'COLUMNS', 'LINES', 'VTE_VERSION', 'WINDOWID', 'TMUX', 'TMUX_*', 'STY', 'WINDOW', 'GPG_TTY'],
  login: ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'DESKTOP_SESSION', 'DBUS_SESSION_BUS_ADDRESS', 'SSH_*'],
  service: ['NOTIFY_SOCKET', 'LISTEN_*', 'INVOCATION_ID', 'JOURNAL_STREAM', 'SYSTEMD_EXEC_PID', 'MAINPID', 'MANAGERPID', 'HOLDFAST_*'],
  temporary: ['TMPDIR', 'TMP', 'TEMP', 'TEMPDIR', 'NIX_BUILD_TOP', 'DEVENV_RUNTIME'],
  network: [
    ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'REQUESTS_CA_BUNDLE', 'NIX_SSL_CERT_FILE'],
    ...['http_proxy', 'https_proxy', 'ftp_proxy', 'rsync_proxy', 'all_proxy', 'no_proxy'],
    ...['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'RSYNC_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ],
  tool: [
    ...['DIRENV_*', '__MISE_*', 'CONDA_SHLVL', 'CONDA_PROMPT_MODIFIER', 'NIX_BUILD_CORES', 'NIX_CONFIG', 'NIX_PATH', 'NIX_REMOTE'],
    ...['NIX_STORE_DIR', 'NIX_STATE_DIR', 'NIX_LOG_DIR', 'NIX_CONF_DIR', 'NIX_USER_CONF_FILES', 'NIX_PROFILES', 'NIX_USER_PROFILE_DIR'],
  ],
};

/** Lists that a launcher is given and adds to: what it adds counts, what it was given does not. */
export const GIVEN_LISTS: readonly string[] = ['PATH', 'XDG_DATA_DIRS', 'XDG_CONFIG_DIRS'];

/** Where every machine has its programs: whether the caller's list or the environment's own names them is not to be told. */
const SYSTEM_DIRECTORIES = new Set(
  ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/games', '/usr/games'].concat([
    ...['/usr/local/share', '/usr/share', '/usr/local/share/', '/usr/share/', '/etc/xdg'],
  ]),
);
/** Stands for any number of directories of the host, at their place in the list. */
export const HOST = '(host)';

const EXACT = new Set(Object.values(VOLATILE_NAMES).flat());
const PREFIXES = [...EXACT].filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

/** @param more names of the session's own, as `VOLATILE_NAMES` has them. */
export function isVolatile(name: string, more: readonly string[] = []): boolean {
  // Functions and lists are looked at by themselves.
  if (name.startsWith('BASH_FUNC_') || GIVEN_LISTS.includes(name)) return more.some((each) => matches(each, name));
  return EXACT.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix)) || more.some((each) => matches(each, name));
}

/**
 * What an environment itself put into a list, in order, with `(host)` where directories of the caller or of the system stand.
 *
 * @param given the list as the launcher got it; `undefined`: it got none.
 */
export function ownDirectories(value: string, given: string | undefined): readonly string[] {
  const callers = given === undefined || given === '' ? [] : given.split(':');
  const all = value.split(':');
  // The caller's list usually stands in it whole. Taken away as a whole, it hides none of the environment's own directories, even
  // where the caller already has those: an environment that is entered from inside itself.
  const at = lastRun(all, callers);
  const own =
    at === -1 ? all.map((each) => (callers.includes(each) ? HOST : each)) : [...all.slice(0, at), HOST, ...all.slice(at + callers.length)];
  const marked = own.map((each) => (SYSTEM_DIRECTORIES.has(each) ? HOST : each));
  return marked.filter((each, i) => each !== HOST || marked[i - 1] !== HOST);
}

/** Where `part` stands in `whole` for the last time; -1: nowhere, as for an empty one. */
function lastRun(whole: readonly string[], part: readonly string[]): number {
  if (part.length === 0) return -1;
  for (let at = whole.length - part.length; at >= 0; at--) if (part.every((each, i) => whole[at + i] === each)) return at;
  return -1;
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
