/**
 * The bin's trash in places that a person has marked as ours: a removed film and the files that belong to it by name
 * are renamed into a hidden folder of their place until the bin restores or deletes them. Each rename is recorded in
 * the ledger first, so that after a crash it is completed or undone.
 */
import { access, constants, lstat, mkdir, readdir, realpath, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { DAY_MS, errors, say, type Timer } from 'archivolt'
import type { App } from './app.ts'
import { isEnding } from './containers.ts'
import { isMissing, isOneOf, sync } from './files.ts'
import { isKept, isKnown } from './known.ts'
import { jobOfTrash } from './paths.ts'
import type { PlaceTrash } from './types.ts'

/** Folder in the place. Hidden, so that no scan reads it. */
export const TRASH = '.archivolt-trash'
/** How long files are stored if it is unknown whether the bin holds them. */
const DOUBTFUL_MS = 30 * DAY_MS
/** The time of a row that the bin holds: the files stay until `drop`. */
const HELD = Number.MAX_SAFE_INTEGER
const AGAIN_MS = 3_600_000
/** Number of films whose folders are checked for write access before a place is marked. */
const TRIED = 20

export const placeTrashTables = {
  number: 4,
  sql: `
    -- a person has said that its files may be removed
    ALTER TABLE media_place ADD COLUMN is_ours INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE media_discarded (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      place_id INTEGER NOT NULL REFERENCES media_place (id) ON DELETE CASCADE,
      video_id TEXT NOT NULL,
      channel_id TEXT NOT NULL,
      -- where the film lay, from the place on
      path TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      -- names of the files in the film's folder (JSON)
      names TEXT NOT NULL,
      -- of the removal that is under way; '': it is being brought back; NULL: it lies in the trash
      job_id TEXT,
      -- epoch milliseconds: until then it is kept
      until INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX media_discarded_video ON media_discarded (video_id);
    CREATE INDEX media_discarded_place ON media_discarded (place_id, id);
    CREATE INDEX media_discarded_open ON media_discarded (job_id) WHERE job_id IS NOT NULL;
    CREATE INDEX media_discarded_until ON media_discarded (until);`,
}

interface Row {
  id: number
  place_id: number
  video_id: string
  channel_id: string
  path: string
  size_bytes: number
  names: string
  job_id: string | null
  until: number
}

type Film = Pick<Row, 'video_id' | 'channel_id' | 'place_id' | 'path' | 'size_bytes'>

interface OwnPlace {
  id: number
  path: string
  label: string
  is_ours: 0 | 1
}

export interface PlaceTrashService extends PlaceTrash {
  /**
   * First half of a removal: moves the film of a video, or those of a channel, into the trash of their place if the
   * place is marked as ours; leaves all others alone. May be repeated after an interruption.
   * @throws unavailable: a place is unavailable, or a file cannot be moved; then all files have been moved back
   */
  discard(jobId: string, what: { videoId: string } | { channelId: string }): Promise<void>
  /**
   * Undoes the first half. If another file has taken the name of one, that file stays, and the removed one stays in the
   * trash.
   */
  putBack(jobId: string): Promise<void>
  /** Second half: the bin holds the films until `drop`, or they are deleted. */
  settle(jobId: string, options: { isHeld: boolean }): Promise<void>
  /** Moves all films back, if the place is available. @throws conflict: one is being removed */
  empty(placeId: number): Promise<void>
  /** Number of films that the bin holds in the trash of a place. */
  heldIn(placeId: number): number
  /** @throws unprocessable: why nothing can be removed from this place, and what to do */
  mustBeRemovable(place: OwnPlace): Promise<void>
  begin(): Promise<void>
  close(): Promise<void>
}

/** Endings of files that belong to a film, after the base name that they share with it. */
const BESIDE =
  /^(?:\.(?:info\.json|description|nfo|annotations\.xml|jpe?g|png|webp)|-(?:thumb|poster)\.(?:jpe?g|png|webp)|\.[A-Za-z0-9_-]{2,35}\.(?:vtt|srt|ass|lrc))$/i

/** The film and its files, the film first. If two films share a base name, their files belong to both, and stay. */
export function filesOf(film: string, names: readonly string[]): string[] {
  const base = film.slice(0, -extname(film).length)
  const isFilm = (name: string) => isEnding(extname(name).slice(1).toLowerCase())
  const isShared = names.some((name) => name !== film && isFilm(name) && name.startsWith(`${base}.`))
  if (isShared) return [film]
  const own = names.filter(
    (name) => name === `${film}.info.json` || (name.startsWith(base) && BESIDE.test(name.slice(base.length))),
  )
  return [film, ...own]
}

type TrashApp = Pick<App, 'ledger' | 'clock' | 'log' | 'jobs' | 'touch' | 'hook'>

/** @param isThere  checks whether a place is available */
export function openPlaceTrash(app: TrashApp, isThere: (placeId: number) => Promise<boolean>): PlaceTrashService {
  const { ledger } = app
  let timer: Timer | undefined
  let working = Promise.resolve()

  async function putBack(jobId: string): Promise<void> {
    for (const row of ofJob(jobId)) if (!(await moveBack(row))) await settleRow(row.id, DOUBTFUL_MS)
  }

  function placeOf(id: number): OwnPlace {
    return ledger.sql<OwnPlace>('SELECT id, path, label, is_ours FROM media_place WHERE id = ?').get(id)!
  }

  function trashOf(place: OwnPlace, { id, video_id: videoId }: Pick<Row, 'id' | 'video_id'>): string {
    return join(place.path, TRASH, `${id}-${videoId}`)
  }

  function dropRow(id: number): Promise<void> {
    return ledger.write(() => void ledger.sql('DELETE FROM media_discarded WHERE id = ?').run(id))
  }

  /**
   * Removes the row of a film that is back, so that scans no longer treat it as removed: after a failed removal, the
   * film belongs to the video again; a film that a person has moved back is imported as a new one.
   */
  function dropBack({ id, video_id: videoId, place_id: placeId, path, job_id: jobId }: Row): Promise<void> {
    const change = jobId ? "UPDATE media_film SET state = 'there'" : 'DELETE FROM media_film'
    return ledger.write(() => {
      ledger
        .sql(`${change} WHERE video_id = ? AND place_id = ? AND path = ? AND state = 'forgotten'`)
        .run(videoId, placeId, path)
      ledger.sql('DELETE FROM media_discarded WHERE id = ?').run(id)
    })
  }

  /** Refuses a link: anybody with write access to the place could have created one at this path. @throws conflict */
  async function trashFolder({ path, label }: OwnPlace): Promise<string> {
    const folder = join(path, TRASH)
    await mkdir(folder).catch((thrown: unknown) => {
      if (!isOneOf(thrown, 'EEXIST')) throw thrown
    })
    if (!(await lstat(folder)).isDirectory())
      throw errors.conflict(say`${{ trash: TRASH }} in “${{ label }}” is not a folder: move it away, then try again`)
    return folder
  }

  /** Whether the trash is a folder, not a link to one. */
  async function hasTrash({ path }: OwnPlace): Promise<boolean> {
    try {
      return (await lstat(join(path, TRASH))).isDirectory()
    } catch (thrown) {
      if (isMissing(thrown)) return false
      throw thrown
    }
  }

  /** The film's folder, if it is really in its place. undefined: a link leads elsewhere, or the folder is missing. */
  async function homeOf(place: OwnPlace, path: string): Promise<string | undefined> {
    const folder = dirname(join(place.path, path))
    try {
      return (await realpath(folder)) === folder ? folder : undefined
    } catch (thrown) {
      if (isMissing(thrown)) return undefined
      throw thrown
    }
  }

  async function isFile(path: string): Promise<boolean> {
    try {
      await lstat(path)
      return true
    } catch (thrown) {
      if (isMissing(thrown)) return false
      throw thrown
    }
  }

  /** Records the removal of a film. undefined: the film is missing, or its folder is reached by a link. */
  async function note(jobId: string, film: Film, place: OwnPlace): Promise<Row | undefined> {
    const known = ledger
      .sql<Row>('SELECT * FROM media_discarded WHERE job_id = ? AND video_id = ?')
      .get(jobId, film.video_id)
    if (known) return known
    const home = await homeOf(place, film.path)
    const name = basename(film.path)
    if (home === undefined || !(await isFile(join(home, name)))) return undefined
    const names = filesOf(name, await readdir(home))
    const row = { ...film, names: JSON.stringify(names), job_id: jobId, until: HELD }
    const id = await ledger.write(() =>
      Number(
        ledger
          .sql(
            `INSERT INTO media_discarded (place_id, video_id, channel_id, path, size_bytes, names, job_id, until)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(row.place_id, row.video_id, row.channel_id, row.path, row.size_bytes, row.names, row.job_id, row.until)
          .lastInsertRowid,
      ),
    )
    return { ...row, id }
  }

  /** The names of the files; only the film's if the stored list is damaged. */
  function namesOf({ id, path, names }: Row): string[] {
    return ledger.json<string[]>(names, `place_trash.names of ${id}`, [basename(path)])
  }

  async function moveAway(row: Row, place: OwnPlace): Promise<void> {
    await trashFolder(place)
    const trash = trashOf(place, row)
    const home = dirname(join(place.path, row.path))
    await mkdir(trash, { recursive: true })
    for (const name of namesOf(row)) {
      try {
        await rename(join(home, name), join(trash, name))
      } catch (thrown) {
        if (!isMissing(thrown)) throw thrown // it was moved earlier, or the other program has removed it
      }
    }
    await sync(home)
    await sync(trash)
  }

  /** @returns whether all files are back */
  async function moveBack(row: Row): Promise<boolean> {
    const place = placeOf(row.place_id)
    const trash = trashOf(place, row)
    const home = dirname(join(place.path, row.path))
    if (!(await hasTrash(place)) || !(await isFile(trash))) {
      await dropBack(row)
      return true
    }
    await mkdir(home, { recursive: true })
    if ((await homeOf(place, row.path)) === undefined) return false
    let isWhole = true
    for (const name of new Set([...namesOf(row), ...(await readdir(trash))])) {
      if (!(await isFile(join(trash, name)))) continue
      if (await isFile(join(home, name))) isWhole = false
      else await rename(join(trash, name), join(home, name))
    }
    await sync(home)
    if (!isWhole) return false
    // a folder with other files stays
    for (const folder of [trash, join(place.path, TRASH)]) await rmdir(folder).catch(() => undefined)
    await dropBack(row)
    return true
  }

  function ofJob(jobId: string): Row[] {
    return ledger.sql<Row>('SELECT * FROM media_discarded WHERE job_id = ? ORDER BY id').all(jobId)
  }

  const settleRow = (id: number, forMs: number): Promise<void> =>
    ledger.write(
      () =>
        void ledger
          .sql('UPDATE media_discarded SET job_id = NULL, until = ? WHERE id = ?')
          .run(forMs === HELD ? HELD : app.clock.now() + forMs, id),
    )

  /** Completes or undoes removals that a crash has interrupted, and deletes files whose retention time has passed. */
  async function clean(): Promise<void> {
    let isFailed = false
    const half = ledger.sql<Row>('SELECT * FROM media_discarded WHERE job_id IS NOT NULL ORDER BY id').all()
    const old = ledger
      .sql<Row>('SELECT * FROM media_discarded WHERE job_id IS NULL AND until <= ? ORDER BY id')
      .all(app.clock.now())
    for (const row of [...half, ...old]) {
      const job = row.job_id === null ? undefined : app.jobs.get(jobOfTrash(row.job_id))
      if (job?.endedAt === null) continue // the removal continues by itself
      try {
        // The video shows whether the removal was completed: its job may have been deleted long ago.
        if (row.job_id && !(await isKnown('video', row.video_id, app)))
          await settleRow(row.id, (await isKept('video', row.video_id, app)) ? HELD : DOUBTFUL_MS)
        // Without the mark, nothing is touched; unavailable places are tried again later.
        else if (placeOf(row.place_id).is_ours === 0) continue
        else if (!(await isThere(row.place_id))) isFailed = true
        else if (row.job_id === null) await unlink(row)
        else if (!(await moveBack(row))) await settleRow(row.id, DOUBTFUL_MS)
      } catch (err) {
        isFailed = true
        app.log.warn({ err, trash: row.id }, 'the trash of a place could not be cleared: tried again in an hour')
      }
    }
    wakeUp(isFailed ? AGAIN_MS : 0)
  }

  async function unlink(row: Row): Promise<void> {
    const place = placeOf(row.place_id)
    if (await hasTrash(place)) {
      await rm(trashOf(place, row), { recursive: true, force: true })
      await rmdir(join(place.path, TRASH)).catch(() => undefined) // it may contain other removed films
    }
    await dropRow(row.id)
  }

  function cleanSoon(): void {
    working = working.then(clean)
  }

  /** Sets the timer for the next row, but not earlier than `earliestMs` from now. */
  function wakeUp(earliestMs = 0): void {
    const next = ledger
      .sql<{ until: number }>(
        `SELECT until FROM media_discarded JOIN media_place ON media_place.id = place_id
       WHERE is_ours = 1 AND job_id IS NULL AND until < ? ORDER BY until LIMIT 1`,
      )
      .get(HELD)
    const isHalf = ledger.sql('SELECT 1 FROM media_discarded WHERE job_id IS NOT NULL').get() !== undefined
    timer?.cancel()
    const { clock } = app
    const at = Math.min(next ? next.until : Number.POSITIVE_INFINITY, isHalf ? clock.now() + AGAIN_MS : Infinity)
    timer = Number.isFinite(at) ? clock.at(Math.max(clock.now() + earliestMs, at), cleanSoon) : undefined
  }

  return {
    putBack,

    async settle(jobId, { isHeld }) {
      for (const { id } of ofJob(jobId)) await settleRow(id, isHeld ? HELD : 0)
      if (!isHeld) cleanSoon()
    },

    async drop(videoIds) {
      const { changes } = await ledger.write(() =>
        ledger
          .sql(
            `UPDATE media_discarded SET until = ? WHERE job_id IS NULL AND until = ?
               AND video_id IN (SELECT value FROM json_each(?))`,
          )
          .run(app.clock.now(), HELD, JSON.stringify(videoIds)),
      )
      if (changes > 0) cleanSoon()
    },

    async empty(placeId) {
      if (placeOf(placeId).is_ours === 0 || !(await isThere(placeId))) return
      const all = ledger.sql<Row>('SELECT * FROM media_discarded WHERE place_id = ? ORDER BY id').all(placeId)
      if (all.some(({ job_id: jobId }) => jobId !== null))
        throw errors.conflict('Videos of this folder are being removed right now: try again in a moment')
      for (const row of all)
        if (!(await moveBack(row))) app.log.warn({ trash: row.id }, 'files of a removed film could not be moved back')
    },

    heldIn: (placeId) =>
      ledger
        .sql<{ count: number }>('SELECT count(*) AS count FROM media_discarded WHERE place_id = ? AND until = ?')
        .get(placeId, HELD)!.count,

    async discard(jobId, what) {
      const [column, value] = 'videoId' in what ? ['video_id', what.videoId] : ['channel_id', what.channelId]
      const films = ledger
        .sql<Film>(
          `SELECT video_id, channel_id, place_id, media_film.path AS path, size_bytes FROM media_film
         JOIN media_place ON media_place.id = place_id
         WHERE media_film.${column} = ? AND is_ours = 1 AND state <> 'forgotten'`,
        )
        .all(value)
      for (const placeId of new Set(films.map(({ place_id: id }) => id))) {
        if (await isThere(placeId)) continue
        const { label } = placeOf(placeId)
        throw errors.unavailable(
          say`“${{ label }}” is not available, and its files would be removed too: connect its disk, then try again`,
        )
      }
      try {
        for (const film of films) {
          const place = placeOf(film.place_id)
          const row = await note(jobId, film, place)
          try {
            if (row) await moveAway(row, place)
          } catch (thrown) {
            if (!isOneOf(thrown, 'EXDEV', 'EBUSY')) throw thrown
            await moveBack(row!) // another disk is mounted within the place: no film is moved across disks
          }
        }
      } catch (thrown) {
        const cause = await putBack(jobId).then(
          () => thrown,
          (second: unknown) => new AggregateError([thrown, second]),
        )
        wakeUp()
        const why = (thrown as NodeJS.ErrnoException).code ?? (thrown as Error).message
        throw errors.unavailable(
          say`A file could not be moved into the trash of its folder (${{ why }}): nothing was removed`,
          {
            cause,
          },
        )
      }
    },

    async mustBeRemovable(place) {
      const films = ledger
        .sql<{ path: string }>(
          "SELECT path FROM media_film WHERE place_id = ? AND state = 'there' ORDER BY video_id LIMIT ?",
        )
        .all(place.id, TRIED)
      const homes = await Promise.all(films.map(({ path }) => homeOf(place, path).catch(() => undefined)))
      let at = place.path
      try {
        const folder = await trashFolder(place)
        await rmdir(folder).catch((thrown: unknown) => {
          if (!isOneOf(thrown, 'ENOTEMPTY', 'EEXIST')) throw thrown
        })
        for (const home of new Set(homes.filter((one) => one !== undefined))) {
          at = home
          await access(home, constants.W_OK)
        }
      } catch (cause) {
        if (isOneOf(cause, 'EROFS'))
          throw errors.unprocessable(
            say`“${{ label: place.label }}” is read-only: mount its disk with write access, then try again`,
            { cause },
          )
        if (isOneOf(cause, 'EACCES', 'EPERM'))
          throw errors.unprocessable(
            say`The server has no permission to remove files in ${{ at }}: allow its user to write there, then try again`,
            { cause },
          )
        if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause
        throw errors.unprocessable(
          say`Nothing can be removed in ${{ at }} (${{ code: String((cause as NodeJS.ErrnoException).code) }}): check its disk`,
          { cause },
        )
      }
    },

    countOfChannel: (channelId) =>
      ledger
        .sql<{ count: number }>('SELECT count(*) AS count FROM media_discarded WHERE channel_id = ?')
        .get(channelId)!.count,

    has: (videoId) => ledger.sql('SELECT 1 FROM media_discarded WHERE video_id = ?').get(videoId) !== undefined,

    among: (videoIds) =>
      ledger
        .sql<{ id: string }>(
          `SELECT DISTINCT video_id AS id FROM media_discarded
           WHERE job_id IS NULL AND video_id IN (SELECT value FROM json_each(?))`,
        )
        .all(JSON.stringify(videoIds))
        .map(({ id }) => id),

    wasAt: (placeId, videoId, path) =>
      ledger
        .sql('SELECT 1 FROM media_discarded WHERE video_id = ? AND place_id = ? AND path = ?')
        .get(videoId, placeId, path) !== undefined,

    async restore(videoId) {
      const row = ledger
        .sql<Row>('SELECT * FROM media_discarded WHERE video_id = ? ORDER BY id DESC LIMIT 1')
        .get(videoId)
      if (!row) return
      const { id, place_id: placeId } = row
      const place = placeOf(placeId)
      if (row.job_id) throw errors.conflict('The video is being removed right now: try again in a moment')
      if (place.is_ours === 0)
        throw errors.conflict(
          say`“${{ label: place.label }}” is read-only for Archivolt: allow it to delete files there, or move the files back by hand`,
        )
      if (!(await isThere(placeId)))
        throw errors.unavailable(say`“${{ label: place.label }}” is not available: connect its disk, then try again`)
      if (await isFile(join(place.path, row.path)))
        throw errors.conflict(
          say`Another ${{ path: row.path }} is in “${{ label: place.label }}”: move it away, then try again`,
        )
      await ledger.write(() => void ledger.sql("UPDATE media_discarded SET job_id = '' WHERE id = ?").run(id))
      try {
        if (!(await moveBack(row))) {
          await settleRow(id, HELD)
          throw errors.conflict(
            say`Not all files of ${{ path: row.path }} could be moved back: other files have their names`,
          )
        }
      } finally {
        wakeUp()
      }
    },

    async begin() {
      working = clean()
      await working
    },

    async close() {
      timer?.cancel()
      await working
      timer?.cancel()
    },
  }
}
