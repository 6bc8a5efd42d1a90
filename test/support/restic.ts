/** Finds restic, which the second site needs. */
import { execFileSync } from 'node:child_process'
import { missingHere } from './required.ts'

function isInstalled(): boolean {
  try {
    execFileSync('restic', ['version'])
    return true
  } catch {
    return false
  }
}

/** For the option `skip` of tests: false if it is installed. */
export const noRestic: string | false = isInstalled()
  ? false
  : missingHere('restic', 'restic is not installed (on Debian: apt-get install restic)')
