// What a vitest JSON report says, for .ci/run: `test-report.mjs counts|files|failures REPORT`.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './inputs.mjs';

const [what, path] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, 'utf8'));
const failedFiles = report.testResults.filter((file) => file.status === 'failed');

switch (what) {
  case 'counts':
    console.log(report.numPassedTests, report.numFailedTests, report.numPendingTests);
    break;
  case 'files':
    for (const file of failedFiles) console.log(relative(root, file.name));
    break;
  case 'failures':
    for (const file of failedFiles) {
      if (file.assertionResults.length === 0) console.log(`  ${relative(root, file.name)}: ${firstLines(file.message)}`);
      for (const test of file.assertionResults.filter(({ status }) => status === 'failed')) {
        console.log(`  ${relative(root, file.name)}: ${test.fullName}\n    ${firstLines(test.failureMessages.join('\n'))}`);
      }
    }
    break;
  default:
    throw new Error(`'${what}' is no question`);
}

function firstLines(message) {
  return message.split('\n').slice(0, 4).join('\n    ');
}
