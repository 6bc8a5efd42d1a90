/**
 * A build of SQLite's native code that does not fit this Node is refused in one sentence, before a database is opened.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseOtherBinding } from '../../../config/cli/binding.ts'

test('the installed binding fits this Node', () => {
  assert.doesNotThrow(() => refuseOtherBinding())
})

test('an older Node refuses the binding for newer ones without loading it, which would crash', () => {
  let isOpened = false
  const open = () => void (isOpened = true)

  assert.throws(
    () => refuseOtherBinding('13.2.0', 9, open),
    /is for Node 22\.14 or newer.*run make run.*install a release/,
  )
  assert.equal(isOpened, false)
  assert.doesNotThrow(() => refuseOtherBinding('12.11.1', 9, open))
  assert.doesNotThrow(() => refuseOtherBinding('13.2.0', 10, open))
})

const COMPILED = (modules: number): string =>
  `The module '/x/better_sqlite3.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION ${modules}. This version of Node.js requires\nNODE_MODULE_VERSION 147.`
const FAILURES: Array<[what: string, message: string, says: RegExp]> = [
  ['one compiled for Node 20', COMPILED(115), /was compiled for Node 20, but this is Node \d+\..*: run make run/],
  ['one for a Node that is not known', COMPILED(131), /for another Node \(NODE_MODULE_VERSION 131\)/],
  [
    'a missing one',
    'Could not locate the bindings file. Tried:\n → x',
    /does not load \(Could not locate the bindings/,
  ],
  ['an older C library', "/lib/libc.so.6: version `GLIBC_2.34' not found", /does not load \(.*GLIBC_2\.34/],
]
for (const [what, message, says] of FAILURES) {
  test(`${what} is reported with a remedy`, () => {
    const fail = () => {
      throw new Error(message)
    }

    assert.throws(() => refuseOtherBinding('12.11.1', 9, fail), says)
  })
}
