// `guix shell`: the packages of a manifest.scm, or what the package in a guix.scm is built with. The file is named, so that Guix need not
// be told first that this directory may be loaded from.

import { join } from 'node:path';

import type { Provider } from './provider.js';
import { kindOf } from './relative.js';

const INPUTS = ['manifest.scm', 'guix.scm', 'channels.scm'];

export const guix: Provider = {
  name: 'guix',
  inputs: INPUTS,
  enter: (directory) => ({
    launch: {
      style: 'enter',
      argv: [
        'guix',
        'shell',
        ...(kindOf(join(directory, 'manifest.scm')) === 'file' ? ['-m', 'manifest.scm'] : ['-D', '-f', 'guix.scm']),
        '--',
      ],
    },
    inputs: INPUTS,
  }),
};
