/** Waits for the disk outside of the event loop: while a film is written to it, one commit takes up to a second. */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'

/** Reads of a disk that does not answer may occupy the whole thread pool; then the event loop waits itself. */
const PATIENCE_MS = 5000

/** @param path  of a write-ahead log, on which SQLite has no locks that closing it would release */
export function openDiskSync(path: string, patienceMs = PATIENCE_MS) {
  const file = openSync(path, 'r')
  let waiting: Array<(failure: unknown) => void> = []
  let running: typeof waiting = []
  let timer: NodeJS.Timeout | undefined

  function start(): void {
    if (running.length > 0 || waiting.length === 0) return
    const own = (running = waiting)
    waiting = []
    timer = setTimeout(syncHere, patienceMs)
    fdatasync(file, (failure) => void (running === own && end(failure)))
  }

  function syncHere(): void {
    let failure: unknown
    try {
      fdatasyncSync(file)
    } catch (error) {
      failure = error
    }
    end(failure)
  }

  function end(failure: unknown): void {
    clearTimeout(timer)
    const ended = running
    running = []
    for (const synced of ended) synced(failure)
    start()
  }

  return {
    /** Calls back once everything written so far is on the disk, or with the disk's error. */
    whenSynced(synced: (failure: unknown) => void): void {
      waiting.push(synced)
      start()
    },

    isBusy: () => running.length > 0,

    close(): void {
      running.push(...waiting.splice(0))
      syncHere()
      closeSync(file)
    },
  }
}
