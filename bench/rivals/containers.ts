// `docker exec` and `podman exec` into a container that is already running, made of nothing but busybox.

import { IMAGE, startDocker } from '../../test/engines/docker.js';
import { startPodman } from '../../test/engines/podman.js';
import { Absent, type Engine, run } from '../../test/engines/site.js';
import type { Place } from '../place.js';
import type { RivalKind } from '../rival.js';

const CONTAINER = 'holdfast-bench-held';

export const dockerExec: RivalKind = execOf('docker exec', startDocker);
export const podmanExec: RivalKind = execOf('podman exec', startPodman);

function execOf(name: string, start: (place: Place) => Promise<Engine>): RivalKind {
  return {
    name,
    start: async (place) => {
      const { client, env, end } = await start(place);
      const [program, ...words] = client;
      try {
        const held = [...words, 'run', '-d', '--name', CONTAINER, '--network', 'none', IMAGE, 'sleep', '1000000'];
        await run(program, held, { env: { ...place.env, ...env } });
      } catch (cause) {
        await end();
        throw new Absent(`'${program}' does not run a container here`, { cause });
      }
      return { name, argv: [...client, 'exec', '-i', CONTAINER, '/bin/true'], env, end };
    },
  };
}
