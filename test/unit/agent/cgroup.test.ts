// Pins src/agent/cgroup.ts: where this process stands in the cgroup v2 hierarchy, in all set-ups that there are.

import { describe, expect, it } from 'vitest';
import { ownCgroupDirectory } from '../../../src/agent/cgroup.js';

const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n';
const HYBRID = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`;

describe('the cgroup of this process', () => {
  const cases: [what: string, mountinfo: string, cgroups: string, directory: string | undefined][] = [
    ['unified', V2, '0::/user.slice/a b.scope\n', '/sys/fs/cgroup/user.slice/a b.scope'],
    ['unified, at the root', V2, '0::/\n', '/sys/fs/cgroup'],
    ['hybrid', HYBRID, '4:memory:/other\n1:cpu:/\n0::/own\n', '/sys/fs/cgroup/unified/own'],
    ['version 1 alone', HYBRID.split('\n').slice(0, 2).join('\n'), '4:memory:/other\n1:cpu:/\n', undefined],
    ['version 2 that is not mounted', '22 1 0:20 / /proc rw - proc proc rw\n', '0::/own\n', undefined],
    [
      'a container’s, of which only its own part is mounted',
      V2.replace(' / /sys', ' /docker/abc /sys'),
      '0::/docker/abc/inner\n',
      '/sys/fs/cgroup/inner',
    ],
    ['a container’s own root', V2.replace(' / /sys', ' /docker/abc /sys'), '0::/docker/abc\n', '/sys/fs/cgroup'],
    ['beside the part that is mounted', V2.replace(' / /sys', ' /docker/abc /sys'), '0::/docker/abcd\n', undefined],
    ['above the namespace’s root', V2, '0::/../other\n', undefined],
    ['above the namespace’s root, mounted from there', V2.replace(' / /sys', ' /.. /sys'), '0::/../other\n', '/sys/fs/cgroup/other'],
    [
      'mounted at a place with a blank, a tab and a backslash',
      V2.replace('/sys/fs/cgroup', '/my\\040c\\011g\\134x'),
      '0::/own\n',
      '/my c\tg\\x/own',
    ],
    ['mounted from a root with a blank', V2.replace(' / /sys', ' /a\\040b /sys'), '0::/a b/own\n', '/sys/fs/cgroup/own'],
    ['of a name beyond ASCII', V2, '0::/müller\n', '/sys/fs/cgroup/müller'],
    [
      'mounted twice, visible in the second',
      V2.replace(' / /sys', ' /elsewhere /sys') + V2.replace('/sys/fs/cgroup', '/second'),
      '0::/own\n',
      '/second/own',
    ],
    ['mounted with optional fields', V2.replace('shared:9', 'shared:9 master:3 propagate_from:2'), '0::/own\n', '/sys/fs/cgroup/own'],
    ['unknown', '', '', undefined],
  ];
  it.each(cases)('is found: %s', (_, mountinfo, cgroups, directory) => {
    expect(ownCgroupDirectory(mountinfo, cgroups)).toBe(directory);
  });
});
