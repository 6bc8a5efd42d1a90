/**
 * The service `cookie`: the only cookie jar, its file, whether it is in use, and the platform's last answer about it
 * (contract 9.7).
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_SECONDS, epochSeconds, errors, localMinute, say, writeWhole } from 'archivolt'
import type { AskOptions, CookieHealth, Platform } from '../platform/types.ts'
import type { App } from './app.ts'
import { cookieExpired } from './expired.ts'
import { parseJar } from './jar-text.ts'

interface CookieStatus {
  cookie_enabled: boolean
  status: boolean
  /** Epoch seconds, 0: never. */
  validated: number
  validated_str: string
}

interface StateRow {
  is_valid: number
  validated_at: number
  /** When it was stored; 0: unknown. */
  stored_at: number
  /** When it was first found to be invalid. */
  ended_at: number | null
}

export const cookieTables = {
  number: 1,
  sql: `CREATE TABLE cookie_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    is_valid INTEGER NOT NULL,
    validated_at INTEGER NOT NULL
  ) STRICT`,
}

/** The lifetimes of cookies, which tell people when the next export will be needed. */
export const cookieLives = {
  number: 2,
  sql: `
    ALTER TABLE cookie_state ADD COLUMN stored_at INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE cookie_state ADD COLUMN ended_at INTEGER;
    CREATE TABLE cookie_life (ended_at INTEGER PRIMARY KEY, seconds INTEGER NOT NULL) STRICT;
  `,
}

const LIVES_SHOWN = 5
const WEEK_SECONDS = 7 * DAY_SECONDS
const DAMAGED = 'Its file can no longer be read, so downloads continue without it. Import it again.'

interface Cookie {
  /** The stored state, without asking the platform. */
  status(): CookieStatus
  /** The lifetimes of past cookies, and the age of this one. */
  health(): CookieHealth
  /** Whether a cookie is stored and in use. */
  isEnabled(): boolean
  /** Uses the stored cookie if it is switched on, and from now on stores renewed versions of it. */
  load(): Promise<void>
  /**
   * Asks the platform about the stored cookie, records the answer and stores the renewed jar.
   * @returns false: invalid, or none is stored
   * @throws unavailable: the platform cannot be asked
   */
  validate(asked: AskOptions): Promise<boolean>
  /**
   * Stores and uses a jar that the platform accepts; until then, the previous one stays.
   * @throws bad_request: not a jar, or the platform does not know its owner; unavailable: the platform cannot be asked
   */
  import(text: string, asked: AskOptions): Promise<void>
  /** Stops using it, and deletes its file. */
  remove(): Promise<CookieStatus>
}

export function openCookie(app: App): Cookie {
  const path = join(app.settings.dataDir, 'cookie.txt')
  let isStored = false
  /** Incremented with each jar, so that an answer about a replaced jar is ignored. */
  let jarNumber = 0
  let lastChange: Promise<unknown> = Promise.resolve()
  /** The number of the jar in use. */
  let inUse: number | undefined
  /** Resolves when listeners know which jar is in use. */
  let told: Promise<void> = Promise.resolve()

  function isEnabled(): boolean {
    return isStored && app.preferences.section('downloads').cookie_import
  }

  function status(): CookieStatus {
    const row = stateRow()
    return {
      cookie_enabled: isEnabled(),
      status: row?.is_valid === 1,
      validated: row?.validated_at ?? 0,
      validated_str: row ? localMinute(row.validated_at) : '',
    }
  }

  /** Runs changes one at a time. None of them asks the platform, so none waits long. */
  function inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = lastChange.then(change)
    lastChange = result.catch(() => undefined) // its caller gets the error
    return result
  }

  function apply(): void {
    const jar = isEnabled() ? jarNumber : undefined
    if (jar === inUse) return
    inUse = jar
    app.platform.useCookie(jar === undefined ? null : path)
    told = app
      .emit('cookie.changed', { isEnabled: jar !== undefined })
      .catch((err: unknown) => app.log.error({ err }, 'a listener to the cookie failed'))
  }

  function setPreference(isOn: boolean): Promise<void> {
    return app.preferences.change({ downloads: { cookie_import: isOn } })
  }

  /** Switches the preference off if no cookie is stored, because it says whether the cookie is in use. */
  async function correctPreference(): Promise<void> {
    if (!isStored && app.preferences.section('downloads').cookie_import) await setPreference(false)
  }

  /**
   * Whether the stored jar is intact. A damaged one is not passed to the downloader; its file stays until an import.
   */
  async function isUsable(): Promise<boolean> {
    const jar = await read()
    if (jar === undefined) return false
    try {
      parseJar(jar, app.platform.name)
      return true
    } catch (error) {
      app.log.error({ err: error }, 'the stored cookie jar is damaged and is not used')
      const damaged = jarNumber
      await app.jobs.warn('The cookie is damaged', DAMAGED, WEEK_SECONDS, () => jarNumber !== damaged)
      return false
    }
  }

  async function read(): Promise<string | undefined> {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }

  /** Writes a temporary file and renames it, so that a reader finds either the old or the new jar, complete. */
  async function write(jar: string): Promise<void> {
    await writeWhole(path, jar)
    isStored = true
  }

  function stateRow(): StateRow | undefined {
    return app.ledger
      .sql<StateRow>('SELECT is_valid, validated_at, stored_at, ended_at FROM cookie_state WHERE id = 1')
      .get()
  }

  /** @param isNew  whether the jar was just stored. @returns whether the jar has just become invalid */
  function note(isValid: boolean, isNew = false): Promise<boolean> {
    return app.ledger.write(() => {
      const now = epochSeconds(app.clock)
      const before = isNew ? undefined : stateRow()
      const storedAt = isNew ? now : (before?.stored_at ?? 0)
      const endedAt = isValid ? null : (before?.ended_at ?? now)
      if (endedAt === now && storedAt > 0)
        app.ledger.sql('INSERT OR REPLACE INTO cookie_life (ended_at, seconds) VALUES (?, ?)').run(now, now - storedAt)
      // The jar is valid after all, so its lifetime continues.
      if (isValid && before?.ended_at) app.ledger.sql('DELETE FROM cookie_life WHERE ended_at = ?').run(before.ended_at)
      app.ledger
        .sql(
          `INSERT INTO cookie_state (id, is_valid, validated_at, stored_at, ended_at) VALUES (1, ?, ?, ?, ?)
          ON CONFLICT (id) DO UPDATE SET is_valid = excluded.is_valid, validated_at = excluded.validated_at,
            stored_at = excluded.stored_at, ended_at = excluded.ended_at`,
        )
        .run(isValid ? 1 : 0, now, storedAt, endedAt)
      return !isValid && before?.is_valid === 1
    })
  }

  /** Asks the platform about the jar. @throws unavailable: the platform could not be asked, so nothing is known */
  async function ask(jar: string, asked: AskOptions): ReturnType<Platform['validateCookie']> {
    try {
      return await app.platform.validateCookie(jar, asked)
    } catch (thrown) {
      if (!app.platform.failureOf(thrown)) throw thrown
      throw errors.unavailable(
        say`${{ platform: app.platform.name }} cannot be reached now to check the cookie; try again in a minute`,
        {
          cause: thrown,
          retryAfterSeconds: 60,
        },
      )
    }
  }

  async function reportExpired(): Promise<void> {
    await app.emit('cookie.expired', { stored: stateRow()?.stored_at ?? 0 })
    if (app.schedules.outgoing()[cookieExpired.name])
      await app.jobs.start(cookieExpired, { platform: app.platform.name })
  }

  return {
    isEnabled,
    status,

    health() {
      const row = stateRow()
      const lives = app.ledger
        .sql<{ seconds: number }>('SELECT seconds FROM cookie_life ORDER BY ended_at DESC LIMIT ?')
        .all(LIVES_SHOWN)
      const state = !isStored
        ? 'none'
        : !isEnabled()
          ? 'off'
          : row === undefined
            ? 'untried'
            : row.is_valid === 1
              ? 'valid'
              : 'invalid'
      return {
        state,
        stored: row?.stored_at ?? 0,
        ended: row?.ended_at ?? 0,
        checked: row?.validated_at ?? 0,
        lived: lives.map(({ seconds }) => seconds),
      }
    },

    async load() {
      isStored = await isUsable()
      await correctPreference()
      // The same cookie as before the start: nobody is told.
      if (isEnabled()) {
        inUse = jarNumber
        app.platform.useCookie(path)
      }
      app.preferences.watch(() => {
        apply()
        correctPreference().catch((err) =>
          app.log.error({ err }, 'the preference cookie_import could not be corrected'),
        )
      })
      app.platform.onCookieRenewed((jar, isStillUsed) => {
        inTurn(async () => {
          if (isStored && isStillUsed()) await write(jar)
        }).catch((err) => app.log.error({ err }, 'the renewed cookie could not be stored'))
      })
    },

    async validate(asked) {
      const number = jarNumber
      const jar = await read()
      if (jar === undefined) return false
      const answer = await ask(jar, asked)
      const hasExpired = await inTurn(async () => {
        if (number !== jarNumber) return false
        if (answer.isValid) await write(answer.jar)
        return note(answer.isValid)
      })
      if (hasExpired) await reportExpired()
      return answer.isValid
    },

    async import(text, asked) {
      const answer = await ask(parseJar(text, app.platform.name), asked)
      if (answer.isUnreadable)
        throw errors.badRequest(
          'yt-dlp cannot read this cookie jar: export it again in the Netscape format (cookies.txt), with another extension if need be',
        )
      if (!answer.isValid)
        throw errors.badRequest(
          say`${{ platform: app.platform.name }} does not accept this cookie: sign in there again and export a new one`,
        )
      await inTurn(async () => {
        await write(answer.jar)
        jarNumber++
        await note(true, true)
        await setPreference(true)
        apply()
      })
      await told
    },

    async remove() {
      await inTurn(async () => {
        isStored = false
        jarNumber++
        apply()
        await rm(path, { force: true })
        await app.ledger.write(() => app.ledger.sql('DELETE FROM cookie_state').run())
        await setPreference(false)
      })
      await told
      return status()
    },
  }
}

declare module 'archivolt' {
  interface Services {
    cookie: {
      cookie: Cookie
    }
  }
  interface Events {
    /** Emitted when a cookie is imported or removed, or switched on or off. */
    'cookie.changed': { isEnabled: boolean }
    /**
     * Emitted when the platform stops accepting the cookie. `stored`: when the cookie was stored, in epoch seconds; 0:
     * unknown.
     */
    'cookie.expired': { stored: number }
  }
}
