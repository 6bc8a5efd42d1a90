/**
 * Daily limit in the ledger. A player that reports its position is charged by the server's clock between its reports;
 * film that is sent to a player that does not report is charged by its length.
 */
import { epochSeconds, errors, localDay, type Meter } from 'archivolt'
import type { Play } from '../media/types.ts'
import type { App } from './app.ts'

export const screenTimeTables = {
  number: 1,
  sql: `
CREATE TABLE screentime_limit (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- A day.
  minutes INTEGER NOT NULL,
  -- Given in addition, for one day.
  more_day TEXT NOT NULL DEFAULT '',
  more_seconds INTEGER NOT NULL DEFAULT 0,
  -- Since the last right one.
  wrong_pins INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Seconds. sent: of film, since the last report. spared: sent before reports, and so not charged.
-- since: epoch milliseconds, until when the play is charged.
CREATE TABLE screentime_played (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  video_id TEXT NOT NULL,
  played REAL NOT NULL DEFAULT 0,
  sent REAL NOT NULL DEFAULT 0,
  spared REAL NOT NULL DEFAULT 0,
  position REAL NOT NULL DEFAULT 0,
  since INTEGER NOT NULL,
  PRIMARY KEY (user_id, day, video_id)
) STRICT, WITHOUT ROWID;
`,
}

const MORE_MINUTES = 5
/** Maximum time that a report without progress is charged for. Players report every ten seconds of the film. */
const REPORT_SECONDS = 20
const LONGEST_REPORT_SECONDS = 600
/** For this time, and for this much film, a player may load ahead before it reports. */
const AHEAD_MS = 60_000
const AHEAD_SECONDS = 1800
/** Loaded film is not charged when the player reports. This is limited to this many times the daily limit. */
const SPARED_TIMES = 3
/** Sent film is recorded in steps of this length, or after this many videos. */
const STEP_SECONDS = 10
const MOST_OWED = 100
const ALLOWED_PINS = 5

interface Limit {
  user_id: number
  minutes: number
  more_day: string
  more_seconds: number
  wrong_pins: number
}

export interface Left {
  minutes: number
  /** Seconds used today. */
  played: number
  left: number
}

export interface ScreenTime {
  /** undefined: the account has no limit, or no view */
  of(userId: number): Left | undefined
  limits(): Array<{ user_id: number; minutes: number }>
  /** @param minutes  per day; null: no limit. @throws not_found; conflict: the account has no view */
  limit(userId: number, minutes: number | null): Promise<void>
  /** Adds minutes for the rest of today. @throws conflict: the account has no limit */
  give(userId: number, minutes: number): Promise<void>
  /** Adds five minutes, with the PIN of any admin. @throws bad_request: the PIN is wrong; conflict; throttled */
  giveByPin(userId: number, pin: string, from: { address: string; signal?: AbortSignal }): Promise<void>
  /** @throws permission_denied: no time is left */
  meter(play: Play): Promise<Meter | undefined>
  report(report: { userId: number; videoId: string; position: number }): Promise<void>
}

export function openScreenTime(app: Omit<App, 'screenTime'>): ScreenTime {
  const { ledger, accounts, clock } = app
  const selectLimits = ledger.sql<Limit>('SELECT * FROM screentime_limit ORDER BY user_id')
  const selectLimit = ledger.sql<Limit>('SELECT * FROM screentime_limit WHERE user_id = ?')
  const upsertLimit = ledger.sql(
    'INSERT INTO screentime_limit (user_id, minutes) VALUES (?, ?) ON CONFLICT DO UPDATE SET minutes = excluded.minutes, wrong_pins = 0',
  )
  const deleteLimit = ledger.sql('DELETE FROM screentime_limit WHERE user_id = ?')
  const setMore = ledger.sql(
    'UPDATE screentime_limit SET more_day = ?, more_seconds = ?, wrong_pins = 0 WHERE user_id = ?',
  )
  const attemptPin = ledger.sql(
    'UPDATE screentime_limit SET wrong_pins = wrong_pins + 1 WHERE user_id = ? AND wrong_pins < ?',
  )
  const selectUsed = ledger.sql<{ played: number; sent: number; ahead: number; spared: number }>(
    `SELECT total(played) AS played, total(sent) AS sent, total(iif(since > ?, sent, 0)) AS ahead, total(spared) AS spared
     FROM screentime_played WHERE user_id = ? AND day = ?`,
  )
  const selectPlayed = ledger.sql<{ sent: number; position: number; since: number }>(
    'SELECT sent, position, since FROM screentime_played WHERE user_id = ? AND day = ? AND video_id = ?',
  )
  const insertPlayed = ledger.sql(
    'INSERT INTO screentime_played (user_id, day, video_id, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const deleteEarlier = ledger.sql('DELETE FROM screentime_played WHERE user_id = ? AND day < ?')
  // After a pause, the time for loading ahead starts again.
  const addSent = ledger.sql(
    'UPDATE screentime_played SET since = iif(sent = 0 AND since < ?, ?, since), sent = sent + ? WHERE user_id = ? AND day = ? AND video_id = ?',
  )
  const addPlayed = ledger.sql(
    'UPDATE screentime_played SET played = played + ?, sent = sent - ?, spared = spared + ?, position = ?, since = ? WHERE user_id = ? AND day = ? AND video_id = ?',
  )

  const today = () => localDay(epochSeconds(clock))
  const usedOf = (userId: number) => selectUsed.get(clock.now() - AHEAD_MS, userId, today())!
  const limitOf = (userId: number): Limit | undefined =>
    accounts.get(userId)?.view ? selectLimit.get(userId) : undefined

  function of(userId: number): Left | undefined {
    const limit = limitOf(userId)
    if (!limit) return undefined
    const used = usedOf(userId)
    const played = used.played + used.sent - Math.min(used.ahead, AHEAD_SECONDS)
    const more = limit.more_day === today() ? limit.more_seconds : 0
    return { minutes: limit.minutes, played, left: limit.minutes * 60 + more - played }
  }

  const isOver = (userId: number): boolean => (of(userId)?.left ?? 1) <= 0

  /** Call inside a write. */
  function note(userId: number, day: string, videoId: string): void {
    if (insertPlayed.run(userId, day, videoId, clock.now()).changes > 0) deleteEarlier.run(userId, day)
  }

  /** Seconds of film that were sent but not written yet, by account and video. */
  let owed = new Map<string, { userId: number; videoId: string; seconds: number }>()

  async function settle(): Promise<void> {
    const all = [...owed.values()]
    owed = new Map()
    const [day, now] = [today(), clock.now()]
    await ledger.write(() => {
      for (const { userId, videoId, seconds } of all) {
        if (!limitOf(userId)) continue
        note(userId, day, videoId)
        addSent.run(now - AHEAD_MS, now, seconds, userId, day, videoId)
      }
    })
  }

  async function owe(userId: number, videoId: string, seconds: number): Promise<void> {
    const key = `${userId} ${videoId}`
    const sum = (owed.get(key)?.seconds ?? 0) + seconds
    owed.set(key, { userId, videoId, seconds: sum })
    if (sum >= STEP_SECONDS || owed.size > MOST_OWED) await settle()
  }

  async function give(userId: number, minutes: number): Promise<void> {
    await ledger.write(() => {
      const now = of(userId)
      if (!now) throw noLimit()
      const limit = selectLimit.get(userId)!
      const before = limit.more_day === today() ? limit.more_seconds : 0
      setMore.run(today(), Math.ceil(before + minutes * 60 - Math.min(0, now.left)), userId)
    })
    app.touch()
  }

  return {
    of,
    limits: () => selectLimits.all().filter(({ user_id }) => accounts.get(user_id)?.view),

    async limit(userId, minutes) {
      const account = accounts.get(userId)
      if (!account) throw errors.notFound('user')
      if (!account.view && minutes !== null)
        throw errors.conflict('Only an account that sees a part of the archive can have a daily limit')
      await ledger.write(() => (minutes === null ? deleteLimit.run(userId) : upsertLimit.run(userId, minutes)))
    },

    give,

    async giveByPin(userId, pin, { address, signal }) {
      const limit = limitOf(userId)
      if (!limit) throw noLimit()
      if (!accounts.list().some((one) => one.is_staff && one.is_active && one.has_pin))
        throw errors.conflict('No admin has a PIN: an admin can set one under Settings → Account')
      if (limit.wrong_pins >= ALLOWED_PINS) throw tooManyWrong()
      // Counted before the check, so that neither a crash nor parallel attempts allow more.
      const count = async (): Promise<void> => {
        const isAllowed = await ledger.write(() => attemptPin.run(userId, ALLOWED_PINS).changes === 1)
        if (!isAllowed) throw tooManyWrong()
      }
      const admin = await accounts.checkAdminPin(userId, pin, { address, count, ...(signal && { signal }) })
      if (!admin) throw errors.wrongField('pin', 'is not the PIN of an admin')
      await give(userId, MORE_MINUTES)
    },

    async meter({ actor, videoId, seconds }) {
      const { id } = actor
      if (!limitOf(id)) return undefined
      if (isOver(id)) throw errors.permissionDenied('The time of this account for today is used up')
      const length = seconds ?? (await app.videos.get(videoId))?.player.duration ?? 0
      return async (bytes, size) => {
        // A film of unknown length is charged like one of an hour.
        await owe(id, videoId, ((length || 3600) * bytes) / size)
        return !isOver(id)
      }
    },

    async report({ userId, videoId, position }) {
      const limit = limitOf(userId)
      if (!limit) return
      await settle()
      const [day, now] = [today(), clock.now()]
      await ledger.write(() => {
        note(userId, day, videoId)
        const { sent, position: before, since } = selectPlayed.get(userId, day, videoId)!
        // A pause is not charged, a slow report is.
        const moved = Math.min(LONGEST_REPORT_SECONDS, Math.max(REPORT_SECONDS, position - before))
        const played = Math.max(0, Math.min((now - since) / 1000, moved))
        const spared = Math.max(0, Math.min(sent, limit.minutes * 60 * SPARED_TIMES - usedOf(userId).spared))
        addPlayed.run(played, spared, spared, position, now, userId, day, videoId)
      })
    },
  }
}

const noLimit = () => errors.conflict('This account has no daily limit')

const tooManyWrong = () => errors.conflict('Too many wrong PINs: an admin can give more time under Settings → Users')
