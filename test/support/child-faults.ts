/** Makes Node children that the server starts from now on load a program of the test first. */
import children from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'
import { lastFirst } from './last-first.ts'

/** @param name  the environment variable that passes `data` to the children until the test ends */
export function loadIntoChildren(t: TestContext, program: string, name: string, data: object): void {
  const real = children.spawn
  const spawn = (path: string, args: readonly string[], options: { env?: NodeJS.ProcessEnv } = {}) =>
    path === process.execPath
      ? real(path, ['--require', program, ...args], {
          ...options,
          env: { [name]: JSON.stringify(data), ...(options.env ?? process.env) },
        })
      : real(path, args, options)
  children.spawn = spawn as typeof real
  syncBuiltinESMExports()
  lastFirst(t).after(() => {
    children.spawn = real
    syncBuiltinESMExports()
  })
}
