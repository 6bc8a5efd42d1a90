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

export class Damage {
  readonly #of: DamageOptions
  readonly #mark: string
  #hasNoted = false

  constructor(options: DamageOptions) {
    this.#of = options
    this.#mark = `${options.file}.damaged`
  }

  /** The file is kept in use, as most of it can be read. */
  note(error: unknown): void {
    if (this.#hasNoted) return
    this.#hasNoted = true
    writeFileSync(this.#mark, 'Found malformed; the next start moves it aside.\n')
    this.#of.log.error({ err: error }, 'the index file is damaged; the next start moves it aside')
  }

  /** @throws what `read` throws: where that tells of damage, it is noted first */
  watch<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (error) {
      if (isDamage(error)) this.note(error)
      throw error
    }
  }

  /** Whether an earlier run has noted it. */
  get isNoted(): boolean {
    return existsSync(this.#mark)
  }

  /** @returns where the file lies now */
  async moveAside(): Promise<string> {
    const { file, log, clock, onDamaged } = this.#of
    const aside = `${file}.damaged-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`
    for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, aside + end)
    await onDamaged?.(aside)
    rmSync(this.#mark, { force: true })
    this.#hasNoted = false
    log.error(`the index file was damaged and has been moved to ${aside}; starting with a blank one`)
    return aside
  }
}
