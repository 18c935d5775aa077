// `docker exec` and `podman exec` into a container of the bench's image that has the scratch folder mounted.

import type { Rival, RivalKind } from '../../bench/rival.js';
import { dockerExec, podmanExec } from '../../bench/rivals/containers.js';
import { IMAGE } from '../engines/docker.js';
import { run, succeeds } from '../engines/site.js';
import type { PeerKind } from './peers.js';

const CONTAINER = 'holdfast-conformance';

export const containers: readonly PeerKind[] = [withMount(dockerExec), withMount(podmanExec)];

function withMount(kind: RivalKind): PeerKind {
  return {
    name: kind.name,
    start: async (place, scratch) => {
      const rival: Rival = await kind.start(place);
      // … exec -i CONTAINER /bin/true
      const [program = '', ...base] = rival.argv.slice(0, -4);
      const env = { ...place.env, ...rival.env };
      const remove = async (): Promise<void> => {
        await succeeds(program, [...base, 'rm', '-f', CONTAINER], env);
        await rival.end?.();
      };
      try {
        const words = ['run', '-d', '--name', CONTAINER, '--network', 'none', '-v', `${scratch}:${scratch}`, IMAGE, 'sleep', '1000000'];
        await run(program, [...base, ...words], { env });
      } catch (error) {
        await remove();
        throw error;
      }
      const prefix = [program, ...base, 'exec', '-i', '-w', `${scratch}/work`, CONTAINER];
      return { name: kind.name, prefix, env: rival.env ?? {}, end: remove };
    },
  };
}
