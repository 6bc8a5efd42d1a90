/** A damaged index file: noted where it is met, moved aside by the next start. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Clock, Log } from 'archivolt'
import { isDamage } from './connection.ts'

interface DamageOptions {
  file: string
  log: Log
  clock: Clock
  /** Awaited when the file has been moved to this path. */
  onDamaged?: ((movedTo: string) => Promise<void>) | undefined
}

export type Damage = ReturnType<typeof openDamage>

export function openDamage({ file, log, clock, onDamaged }: DamageOptions) {
  const mark = `${file}.damaged`
  let hasNoted = false

  /** The file is kept in use, as most of it can be read. */
  function note(error: unknown): void {
    if (hasNoted) return
    hasNoted = true
    writeFileSync(mark, 'Found malformed; the next start moves it aside.\n')
    log.error({ err: error }, 'the index file is damaged; the next start moves it aside')
  }

  /** @throws what `read` throws: where that tells of damage, it is noted first */
  function watch<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (error) {
      if (isDamage(error)) note(error)
      throw error
    }
  }

  /** @returns where the file lies now */
  async function moveAside(): Promise<string> {
    const aside = `${file}.damaged-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`
    for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, aside + end)
    await onDamaged?.(aside)
    rmSync(mark, { force: true })
    hasNoted = false
    log.error(`the index file was damaged and has been moved to ${aside}; starting with a blank one`)
    return aside
  }

  return {
    note,
    watch,
    moveAside,
    /** Whether an earlier run has noted it. */
    get isNoted() {
      return existsSync(mark)
    },
  }
}
