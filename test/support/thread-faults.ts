/** Threads that the server starts from now on load a program of a test's first, which finds there what it is to do. */
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'
import threads, { setEnvironmentData, type Worker, type WorkerOptions } from 'node:worker_threads'
import { lastFirst } from './last-first.ts'

/** Flags of this process that say how modules are loaded: a thread refuses those that are for the whole process. */
const threadFlags = (): string[] =>
  process.execArgv.filter((word, at, all) => isLoading(word) || (!word.startsWith('--') && isLoading(all[at - 1])))
const isLoading = (word = ''): boolean => /^--(import|require|conditions|enable-source-maps)\b/.test(word)

/** @param key  under which `data` is told to the threads, until the test ends */
export function loadIntoThreads(t: TestContext, program: string, key: string, data: object): void {
  const thread = threads as { Worker: typeof Worker }
  const Real = thread.Worker
  setEnvironmentData(key, data as never)
  thread.Worker = class extends Real {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      super(file, { ...options, execArgv: [...threadFlags(), '--require', program] })
    }
  }
  syncBuiltinESMExports()
  lastFirst(t).after(() => {
    thread.Worker = Real
    setEnvironmentData(key, undefined as never)
    syncBuiltinESMExports()
  })
}
