/**
 * Loaded into a server before all else: it is killed (SIGKILL) before a call that moves or removes a file whose path has
 * the end `AV_TEST_KILL_PATH` (a pattern), when that many such calls (`AV_TEST_KILL_CALLS`) have gone well.
 */
const fs = require('node:fs/promises')
const { syncBuiltinESMExports } = require('node:module')

const pattern = new RegExp(process.env.AV_TEST_KILL_PATH)
let left = Number(process.env.AV_TEST_KILL_CALLS)

for (const name of ['rename', 'link', 'rm', 'unlink']) {
  const real = fs[name]
  fs[name] = (...args) => {
    if (args.some((one) => typeof one === 'string' && pattern.test(one)) && left-- === 0)
      process.kill(process.pid, 'SIGKILL')
    return real.apply(fs, args)
  }
}
syncBuiltinESMExports()
