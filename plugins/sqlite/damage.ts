/** A damaged index file: recorded when found, moved aside by the next start. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Clock, Log } from 'archivolt'
import { isDamage } from './connection.ts'

interface DamageOptions {
  file: string
  log: Log
  clock: Clock
  /** Awaited after the file has been moved to this path. */
  onDamaged?: ((movedTo: string) => Promise<void>) | undefined
}

export type Damage = ReturnType<typeof openDamage>

export function openDamage({ file, log, clock, onDamaged }: DamageOptions) {
  const mark = `${file}.damaged`
  let hasNoted = false

  /** Records the damage; the file stays in use, because most of it is still readable. */
  function note(error: unknown): void {
    if (hasNoted) return
    hasNoted = true
    writeFileSync(mark, 'Found malformed; the next start moves it aside.\n')
    log.error({ err: error }, 'the index file is damaged; the next start moves it aside')
  }

  /** @throws what `read` throws; an error that reveals damage is recorded first */
  function watch<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (error) {
      if (isDamage(error)) note(error)
      throw error
    }
  }

  /** @returns the new path of the file */
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
    /** Whether an earlier run has recorded damage. */
    get isNoted() {
      return existsSync(mark)
    },
  }
}
