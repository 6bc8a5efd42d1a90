/**
 * Places: folders with films of other programs, which are read-only unless a person marks one as ours. The ledger has
 * the places, the path of each film in them, and whether a place is available, so that no document or reply contains a
 * path.
 */
import { lstat, opendir, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { epochSeconds, errors, type Sentence, say, type Timer } from 'archivolt'
import type { App } from './app.ts'
import type { Ending } from './containers.ts'
import { codeOf, isMissing, isOneOf, sizeOf } from './files.ts'
import { openPlaceTrash, type PlaceTrashService } from './place-trash.ts'
import type { Place, PlacedFilm, PlacedState, Places } from './types.ts'

export const placeTables = {
  number: 2,
  sql: `
    CREATE TABLE media_place (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      path TEXT NOT NULL UNIQUE,
      label TEXT NOT NULL,
      added_at INTEGER NOT NULL,
      -- epoch seconds; NULL: it is there
      away_since INTEGER
    ) STRICT;
    -- forgotten: somebody has removed the video, and no scan brings it back
    CREATE TABLE media_film (
      video_id TEXT PRIMARY KEY,
      channel_id TEXT NOT NULL,
      place_id INTEGER NOT NULL REFERENCES media_place (id),
      path TEXT NOT NULL,
      ending TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      changed_ms INTEGER NOT NULL,
      state TEXT NOT NULL DEFAULT 'there' CHECK (state IN ('there', 'lost', 'forgotten'))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX media_film_place ON media_film (place_id, path);
    CREATE INDEX media_film_channel ON media_film (channel_id);
    CREATE INDEX media_film_forgotten ON media_film (place_id) WHERE state = 'forgotten';`,
}

interface PlaceRow {
  id: number
  path: string
  label: string
  added_at: number
  away_since: number | null
  is_ours: 0 | 1
}

interface FilmRow {
  video_id: string
  channel_id: string
  place_id: number
  path: string
  ending: Ending
  size_bytes: number
  changed_ms: number
  state: PlacedFilm['state'] | 'forgotten'
}

/** Interval between checks of an available place; an unavailable one is checked more often. */
const CHECK_MS = 5 * 60_000
const CHECK_AGAIN_MS = 60_000
/** The number of films that are checked: one match is sufficient. */
const CHECKED_FILMS = 20
/** Size of the sample by which a moved place is recognized, and the share of it that must be found. */
const SAMPLE = 200
const FOUND_AGAIN = 0.5
const MOST_PLACES = 100

export interface PlacesService extends Places {
  readonly trash: PlaceTrashService
  /** Checks all places now and, while the server runs, repeatedly. */
  begin(): void
  end(): Promise<void>
}

type PlacesApp = Pick<App, 'ledger' | 'settings' | 'clock' | 'log' | 'jobs' | 'touch' | 'hook'>

const isWithin = (outer: string, inner: string): boolean => {
  const way = relative(outer, inner)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
const overlap = (one: string, other: string): boolean => isWithin(one, other) || isWithin(other, one)

const isForbidden = (thrown: unknown): boolean => isOneOf(thrown, 'EACCES', 'EPERM')

/** @throws the error of a disk that does not respond */
async function folderAt(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : undefined
  } catch (thrown) {
    if (isMissing(thrown) || isForbidden(thrown)) return undefined
    throw thrown
  }
}
const realFolder = (path: string): Promise<string | undefined> => folderAt(path).catch(() => undefined)

const toFilm = (row: FilmRow): PlacedFilm => ({
  videoId: row.video_id,
  channelId: row.channel_id,
  placeId: row.place_id,
  path: row.path,
  ending: row.ending,
  sizeBytes: row.size_bytes,
  changedMs: row.changed_ms,
  state: row.state === 'lost' ? 'lost' : 'there',
})

/** Folders that systems leave on disks and mount points: a film in them was not renamed by another program. */
const isLeftBehind = (name: string): boolean => /^(?:[.@#$]|(?:lost\+found|system volume information)$)/i.test(name)

const isNotThere = ({ label }: PlaceRow, cause?: unknown) =>
  errors.unavailable(say`The file of this video is in “${{ label }}”, which is not available`, { cause })

/** @throws conflict */
function mustBeFree(path: string, places: readonly PlaceRow[]): void {
  const other = places.find((one) => one.path === path)
  if (other) throw errors.conflict(say`${{ path }} is already listed as “${{ label: other.label }}”`)
}

export function openPlaces(app: PlacesApp): PlacesService {
  const { ledger } = app
  const trash = openPlaceTrash(app, (id) => check(rowOf(id)))
  /** Running checks: a share that does not respond is checked only once at a time. */
  const checking = new Map<number, Promise<boolean>>()
  const whenBack: Array<(placeId: number) => Promise<void>> = []
  let timer: Timer | undefined
  let checkedAtMs = -Infinity
  let hasEnded = false

  async function realRoots(): Promise<string[]> {
    const found = await Promise.all(app.settings.libraryRoots.map(realFolder))
    return found.filter((root) => root !== undefined)
  }

  function rows(): PlaceRow[] {
    return ledger.sql<PlaceRow>('SELECT * FROM media_place ORDER BY id').all()
  }

  function rowOf(id: number): PlaceRow {
    const row = ledger.sql<PlaceRow>('SELECT * FROM media_place WHERE id = ?').get(id)
    if (!row) throw errors.notFound('place', String(id))
    return row
  }

  /** Counts with the index alone, because a place may have very many films. */
  function filmsIn(id: number): number {
    return (
      ledger.sql<{ count: number }>('SELECT count(*) AS count FROM media_film WHERE place_id = ?').get(id)!.count -
      ledger
        .sql<{ count: number }>("SELECT count(*) AS count FROM media_film WHERE place_id = ? AND state = 'forgotten'")
        .get(id)!.count
    )
  }

  function toPlace({ id, path, label, added_at: addedAt, away_since: since, is_ours: ours }: PlaceRow): Place {
    return {
      id,
      path,
      label,
      addedAt,
      films: filmsIn(id),
      isOurs: ours === 1,
      ...(since !== null && { awaySince: since }),
    }
  }

  /** Tells the operator which setting to write. */
  function notAllowed(asked: string): Sentence {
    const remedy = say`Start the server with AV_LIBRARY_ROOTS=${{ roots: [...app.settings.libraryRoots, asked].join(',') }}`
    return say`Archivolt may not read ${{ asked }}. ${{ remedy }}`
  }

  /** @throws unprocessable: the folder cannot be a place, and what to do */
  async function allowed(path: string): Promise<string> {
    const asked = resolve(path)
    const real = await folderAt(asked).catch((cause: unknown) => {
      throw errors.unavailable(say`${{ asked }} cannot be read (${{ code: codeOf(cause) }}): check its disk`, { cause })
    })
    const within = await realRoots()
    if (real === undefined) {
      // Nothing is revealed about paths outside of the roots, not even whether they exist.
      const isTold = [...app.settings.libraryRoots, ...within].some((root) => isWithin(root, asked))
      throw errors.unprocessable(
        isTold
          ? say`There is no folder ${{ asked }} that the server can read; check the path and its permissions`
          : notAllowed(asked),
      )
    }
    // Checked first, because no setting would allow these folders.
    for (const own of [app.settings.mediaDir, app.settings.cacheDir]) {
      const folder = (await realFolder(own)) ?? resolve(own)
      if (overlap(folder, real))
        throw errors.unprocessable(
          say`${{ asked }} and the folder ${{ own }} of this archive overlap: choose another folder`,
        )
    }
    if (!within.some((root) => isWithin(root, real))) throw errors.unprocessable(notAllowed(asked))
    return real
  }

  function sampleOf(id: number, size: number): Array<Pick<FilmRow, 'path' | 'size_bytes'>> {
    return ledger
      .sql<Pick<FilmRow, 'path' | 'size_bytes'>>(
        "SELECT path, size_bytes FROM media_film WHERE place_id = ? AND state = 'there' ORDER BY video_id LIMIT ?",
      )
      .all(id, size)
  }

  /** The first and last films by path: this does not require sorting all. */
  function someOf(id: number, size: number): Array<Pick<FilmRow, 'path' | 'size_bytes'>> {
    return ['ASC', 'DESC'].flatMap((order) =>
      ledger
        .sql<Pick<FilmRow, 'path' | 'size_bytes'>>(
          `SELECT path, size_bytes FROM media_film WHERE place_id = ? AND state = 'there' ORDER BY path ${order} LIMIT ?`,
        )
        .all(id, size / 2),
    )
  }

  /** How many of these films are found below a folder, and for how many the disk reported an error. */
  async function countFound(
    folder: string,
    films: ReadonlyArray<Pick<FilmRow, 'path' | 'size_bytes'>>,
    hasToFit: boolean,
  ): Promise<{ found: number; failed: number }> {
    let [found, failed] = [0, 0]
    for (const { path, size_bytes: size } of films) {
      try {
        const there = await stat(join(folder, path))
        if (there.isFile() && (!hasToFit || there.size === size)) found++
      } catch (thrown) {
        if (!isMissing(thrown) && !isForbidden(thrown)) failed++
      }
    }
    return { found, failed }
  }

  async function isThere({ id, path }: PlaceRow): Promise<boolean> {
    const real = await realFolder(path)
    if (real === undefined || !(await mayRead(real))) return false
    const films = someOf(id, CHECKED_FILMS)
    const { found, failed } = await countFound(real, films, false)
    if (found > 0 || failed > 0) return found > 0
    // Another program may have renamed all films, but an empty mount point means a missing disk.
    try {
      for await (const { name } of await opendir(real)) if (!isLeftBehind(name)) return true
      return films.length === 0
    } catch {
      return false
    }
  }

  async function mayRead(real: string): Promise<boolean> {
    return (await realRoots()).some((root) => isWithin(root, real))
  }

  /** Why a place is unavailable: for people, without paths. */
  async function whyAway({ path, label }: PlaceRow): Promise<Sentence> {
    const real = await realFolder(path)
    return real === undefined || (await mayRead(real))
      ? say`“${{ label }}” cannot be read. Its videos stay, and can be played again when it is back: connect its disk, or enter its new path.`
      : say`“${{ label }}” is outside of the folders in AV_LIBRARY_ROOTS. Its videos stay, and can be played again when its folder is listed there and the server has been restarted.`
  }

  async function reportBack(id: number): Promise<void> {
    for (const hear of whenBack) await hear(id)
  }

  /** @returns whether it is available */
  async function checkNow(row: PlaceRow): Promise<boolean> {
    const there = await isThere(row)
    const now = ledger.sql<PlaceRow>('SELECT * FROM media_place WHERE id = ?').get(row.id)
    if (hasEnded || !now || now.path !== row.path || there === (now.away_since === null)) return there
    const since = there ? null : epochSeconds(app.clock)
    await ledger.write(() => ledger.sql('UPDATE media_place SET away_since = ? WHERE id = ?').run(since, row.id))
    app.touch()
    if (there) {
      app.log.info({ place: row.label }, 'a folder of films is online again')
      await reportBack(row.id)
    } else {
      app.log.warn({ place: row.label, folder: row.path }, 'a folder of films is offline')
      await app.jobs.warn(say`A folder is offline`, await whyAway(row), undefined, () => !isAwaySince(row, since))
    }
    return there
  }

  const isAwaySince = ({ id, path }: PlaceRow, since: number | null): boolean =>
    rows().some((row) => row.id === id && row.path === path && row.away_since === since)

  function check(row: PlaceRow): Promise<boolean> {
    const running = checking.get(row.id)
    if (running) return running
    const checked = checkNow(row).finally(() => checking.delete(row.id))
    checking.set(row.id, checked)
    return checked
  }

  async function checkDue(): Promise<void> {
    const all = rows()
    const isDue = app.clock.steady() - checkedAtMs >= CHECK_MS || all.some(({ away_since: since }) => since !== null)
    if (!isDue) return
    checkedAtMs = app.clock.steady()
    for (const row of all) await check(row)
  }

  function watch(): Promise<void> {
    return checkDue().catch((err: unknown) =>
      app.log.error({ err }, 'the folders of other programs could not be checked'),
    )
  }

  function filmRow(videoId: string): FilmRow | undefined {
    return ledger.sql<FilmRow>("SELECT * FROM media_film WHERE video_id = ? AND state <> 'forgotten'").get(videoId)
  }

  function setState(videoIds: readonly string[], state: FilmRow['state']): Promise<void> {
    return ledger.write(() => {
      // The film of a removed video stays forgotten, even if a scan that began before has found or missed it.
      const change = ledger.sql(
        "UPDATE media_film SET state = ? WHERE video_id = ? AND state <> ? AND state <> 'forgotten'",
      )
      for (const id of videoIds) change.run(state, id, state)
    })
  }

  async function pathIn(film: PlacedFilm): Promise<string> {
    const place = rowOf(film.placeId)
    const path = join(place.path, film.path)
    try {
      const real = await realpath(path)
      // Somebody may have created a link since the film was found, or the roots may have changed.
      if ((await mayRead(real)) && (await lstat(real)).isFile()) return real
      if (await check(place)) throw errors.notFound('file')
      throw isNotThere(place)
    } catch (thrown) {
      if (isForbidden(thrown))
        throw errors.unavailable(
          say`The server has no permission to read the file of this video in “${{ label: place.label }}”`,
          {
            cause: thrown,
          },
        )
      if (!isMissing(thrown) && (thrown as NodeJS.ErrnoException).syscall === undefined) throw thrown
      const isThere = await check(place)
      if (isThere && isMissing(thrown)) throw errors.notFound('file', undefined, { cause: thrown })
      if (isThere)
        throw errors.unavailable(
          say`The file of this video in “${{ label: place.label }}” cannot be read (${{ code: codeOf(thrown) }}): check its disk`,
          { cause: thrown },
        )
      throw isNotThere(place, thrown)
    }
  }

  return {
    trash,
    realRoots,

    async isGone(film) {
      const place = rowOf(film.placeId)
      try {
        await lstat(join(place.path, film.path))
        return false
      } catch (thrown) {
        return isMissing(thrown) && (await check(place))
      }
    },

    pathIn,

    async placeWith(film) {
      const all = rows()
      if (all.some(({ id }) => id === film.placeId)) return film.placeId
      for (const { id } of all) {
        const size = await pathIn({ ...film, placeId: id }).then(sizeOf, () => undefined)
        if (size === film.sizeBytes) return id
      }
      return undefined
    },

    list: () => rows().map((row) => toPlace(row)),

    get: (id) => toPlace(rowOf(id)),

    roots: () => app.settings.libraryRoots,

    async add(path, label) {
      const real = await allowed(path)
      const id = await ledger.write(() => {
        const known = rows()
        // A folder in a place belongs to that place; a folder above one is a place of its own, without the inner one.
        const joined = known.filter((row) => isWithin(row.path, real)).sort((a, b) => b.path.length - a.path.length)
        if (joined[0]) return joined[0].id
        if (known.length >= MOST_PLACES) throw errors.conflict(say`There are already ${{ most: MOST_PLACES }} folders`)
        return Number(
          ledger
            .sql('INSERT INTO media_place (path, label, added_at) VALUES (?, ?, ?)')
            .run(real, label, epochSeconds(app.clock)).lastInsertRowid,
        )
      })
      return toPlace(rowOf(id))
    },

    async rename(id, label) {
      rowOf(id)
      await ledger.write(() => ledger.sql('UPDATE media_place SET label = ? WHERE id = ?').run(label, id))
      app.touch()
      return toPlace(rowOf(id))
    },

    async setOurs(id, isOurs) {
      const row = rowOf(id)
      if (isOurs) {
        if (!(await check(row)))
          throw errors.unavailable(say`“${{ label: row.label }}” is not available: connect its disk first`)
        await trash.mustBeRemovable(row)
      }
      await ledger.write(() => ledger.sql('UPDATE media_place SET is_ours = ? WHERE id = ?').run(isOurs ? 1 : 0, id))
      app.touch()
      if (isOurs) await trash.begin()
      return toPlace(rowOf(id))
    },

    async move(id, path) {
      const row = rowOf(id)
      const real = await allowed(path)
      mustBeFree(
        real,
        rows().filter((one) => one.id !== id),
      )
      const films = sampleOf(id, SAMPLE)
      const { found } = await countFound(real, films, true)
      if (found < films.length * FOUND_AGAIN)
        throw errors.unprocessable(
          say`Only ${{ found }} of ${{ count: films.length }} videos were found in ${{ real }}: this is not where “${{ label: row.label }}” is now`,
        )
      await ledger.write(() =>
        ledger.sql('UPDATE media_place SET path = ?, away_since = NULL WHERE id = ?').run(real, id),
      )
      app.touch()
      await reportBack(id)
      return toPlace(rowOf(id))
    },

    async remove(id) {
      const { label } = rowOf(id)
      const mustBeBare = () => {
        const films = filmsIn(id)
        if (films > 0)
          throw errors.conflict(
            say`${{ count: films }} videos are in “${{ label }}”: remove them from the archive first`,
          )
      }
      mustBeBare()
      // Move films in the trash back first: without the place, nothing would know about them.
      await trash.empty(id)
      const held = trash.heldIn(id)
      if (held > 0)
        throw errors.conflict(
          say`“${{ label }}” has files of removed videos in its trash (${{ count: held }}): connect its disk and allow Archivolt to delete files there, or restore or delete these videos in the bin first`,
        )
      await ledger.write(() => {
        mustBeBare() // an import may have begun
        ledger.sql('DELETE FROM media_film WHERE place_id = ?').run(id)
        ledger.sql('DELETE FROM media_discarded WHERE place_id = ?').run(id)
        ledger.sql('DELETE FROM media_place WHERE id = ?').run(id)
      })
    },

    isThere: (id) => check(rowOf(id)),

    onBack(hear) {
      whenBack.push(hear)
    },

    filmOf(videoId) {
      const row = filmRow(videoId)
      return row && toFilm(row)
    },

    at(placeId, paths) {
      const found = ledger
        .sql<FilmRow>(
          `SELECT media_film.* FROM json_each(?) AS asked CROSS JOIN media_film ON place_id = ? AND media_film.path = asked.value WHERE state <> 'forgotten'`,
        )
        .all(JSON.stringify(paths), placeId)
      return new Map(found.map((row) => [row.path, toFilm(row)]))
    },

    statesOf(videoIds) {
      const states = new Map<string, PlacedState>()
      const hasPlaces = () => ledger.sql('SELECT 1 FROM media_place LIMIT 1').get() !== undefined
      if (videoIds.length === 0 || !ledger.cached('whether there are places', hasPlaces)) return states
      const found = ledger
        .sql<Pick<FilmRow & PlaceRow, 'video_id' | 'label' | 'state' | 'away_since' | 'is_ours'>>(
          `SELECT video_id, label, state, away_since, is_ours FROM json_each(?) AS asked CROSS JOIN media_film ON video_id = asked.value JOIN media_place ON media_place.id = place_id
         WHERE state <> 'forgotten'`,
        )
        .all(JSON.stringify(videoIds))
      for (const { video_id: id, label, state, away_since: since, is_ours: ours } of found)
        states.set(id, {
          label,
          state: since !== null ? 'away' : state === 'lost' ? 'missing' : 'there',
          ...(ours === 1 && { ours: true }),
        })
      return states
    },

    countOfChannel: (channelId) =>
      ledger
        .sql<{ count: number }>(
          "SELECT count(*) AS count FROM media_film WHERE channel_id = ? AND state <> 'forgotten'",
        )
        .get(channelId)!.count,

    wasForgotten: (videoIds) =>
      new Set(
        ledger
          .sql<{ video_id: string }>(
            "SELECT video_id FROM json_each(?) AS asked CROSS JOIN media_film ON video_id = asked.value WHERE state = 'forgotten'",
          )
          .all(JSON.stringify(videoIds))
          .map(({ video_id: id }) => id),
      ),

    broughtFrom: (placeId, videoIds) =>
      new Set(
        ledger
          .sql<{ video_id: string }>(
            'SELECT video_id FROM json_each(?) AS asked CROSS JOIN media_film ON video_id = asked.value WHERE place_id = ?',
          )
          .all(JSON.stringify(videoIds), placeId)
          .map(({ video_id: id }) => id),
      ),

    keep: (films) =>
      ledger.write(() => {
        const put = ledger.sql(
          `INSERT INTO media_film (video_id, channel_id, place_id, path, ending, size_bytes, changed_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (video_id) DO UPDATE SET channel_id = excluded.channel_id, place_id = excluded.place_id,
             path = excluded.path, ending = excluded.ending, size_bytes = excluded.size_bytes,
             changed_ms = excluded.changed_ms, state = 'there'`,
        )
        const found = ledger.sql('DELETE FROM media_missing WHERE video_id = ?')
        for (const { videoId, channelId, placeId, path, ending, sizeBytes, changedMs } of films) {
          put.run(videoId, channelId, placeId, path, ending, sizeBytes, Math.floor(changedMs))
          found.run(videoId)
        }
      }),

    drop: (videoIds) =>
      ledger.write(() => {
        const drop = ledger.sql('DELETE FROM media_film WHERE video_id = ?')
        for (const id of videoIds) drop.run(id)
      }),

    forget: (videoIds) => setState(videoIds, 'forgotten'),

    async setLost(videoIds, isLost) {
      await setState(videoIds, isLost ? 'lost' : 'there')
      if (videoIds.length > 0) app.touch()
    },

    *filmsOf(placeId, batch = 500) {
      for (let after = ''; ; ) {
        const found = ledger
          .sql<FilmRow>(
            "SELECT * FROM media_film WHERE place_id = ? AND path > ? AND state <> 'forgotten' ORDER BY path LIMIT ?",
          )
          .all(placeId, after, batch)
        if (found.length === 0) return
        yield found.map(toFilm)
        after = found.at(-1)!.path
      }
    },

    begin() {
      timer = app.clock.every(CHECK_AGAIN_MS, () => watch())
      void watch()
      void trash.begin()
    },

    async end() {
      hasEnded = true
      timer?.cancel()
      await trash.close()
    },
  }
}
