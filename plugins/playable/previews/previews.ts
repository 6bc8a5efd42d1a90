/**
 * Seek previews: sheets of small pictures that the player shows above its bar. A row per video says whether it waits
 * for previews or has them. The sheets are in the cache, up to a total size; the oldest are removed first.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type App, isAmong } from 'archivolt'
import type { Storyboard } from '../../platform/types.ts'
import type { SheetsShape } from '../film.ts'

const FOLDER = 'previews'
const SHEET = /^(\d+)-(\d+)\.jpg$/
/** Size limit for all videos together. */
const ROOM_BYTES = 2e9
/** Maximum number of waiting videos of all accounts; beyond it, the oldest are dropped. */
const MOST_WANTED = 100
const LONGEST_SIDE = 160
const ACROSS = 5
const MOST_PICTURES = 300
const SHORTEST_INTERVAL_S = 2

interface Row {
  video_id: string
  state: 'wanted' | 'made' | 'impossible'
  at: number
  bytes: number
  shape: string
  offer: string
}

/** A video that waits for its previews. */
export interface Wish {
  id: string
  at: number
}

/** The layout: pictures in rows from left to right, sheet after sheet. */
export interface Shape extends Omit<SheetsShape, 'longest'> {
  /** Size of one picture. */
  width: number
  height: number
  /** Number of pictures. */
  count: number
}

/** The layout for a film of this length. */
export function shapeFor(seconds: number): SheetsShape & { count: number } {
  const interval = Math.max(SHORTEST_INTERVAL_S, Math.ceil((seconds / MOST_PICTURES) * 10) / 10)
  const count = Math.max(1, Math.ceil(seconds / interval))
  const rows = Math.min(ACROSS, Math.ceil(count / ACROSS))
  return { interval, count, columns: ACROSS, rows, sheets: Math.ceil(count / (ACROSS * rows)), longest: LONGEST_SIDE }
}

export function openPreviews({ settings, preferences, ledger, clock }: App) {
  const folder = join(resolve(settings.cacheDir), FOLDER)
  /** The last turn of each account. */
  const turns = new Map<number, number>()
  let turn = 0

  function draftOf(id: string): string {
    return join(folder, `${id}.part`)
  }

  function isWanted(): boolean {
    return preferences.section('playback').seek_previews
  }

  /** Deletes the row first: the next start removes sheets without a row. */
  async function drop(ids: readonly string[]): Promise<void> {
    const [isOne, value] = isAmong('video_id', ids)
    const left = ledger
      .sql<{ id: string }>(`SELECT video_id AS id FROM library_preview WHERE ${isOne}`)
      .all(value)
      .map(({ id }) => id)
    if (left.length === 0) return
    await ledger.write(() => {
      for (const id of left) ledger.sql('DELETE FROM library_preview WHERE video_id = ?').run(id)
    })
    for (const id of left) await rm(folderOf(id), { recursive: true, force: true })
  }

  /** Removes drafts, and sheets without a row. */
  async function begin(): Promise<void> {
    await mkdir(folder, { recursive: true })
    for (const name of await readdir(folder))
      if (rowOf(name)?.state !== 'made') await rm(join(folder, name), { recursive: true, force: true })
  }

  function stateOf(id: string): Row['state'] | undefined {
    return rowOf(id)?.state
  }

  /** undefined: there are no previews. The name of a sheet changes with its content. */
  function sheetsOf(id: string): (Omit<Shape, 'sheets'> & { sheets: string[] }) | undefined {
    const row = rowOf(id)
    if (row?.state !== 'made') return undefined
    const { sheets, longest: _, ...shape } = JSON.parse(row.shape) as Shape & { longest?: number }
    const urls = Array.from({ length: sheets }, (_, at) => `/cache/${FOLDER}/${id}/${row.at}-${at + 1}.jpg`)
    return { ...shape, sheets: urls }
  }

  /** The path of a sheet, from the last part of its URL. undefined: unknown or outdated. */
  function pathOf(id: string, name: string): string | undefined {
    const [, at, sheet] = SHEET.exec(name) ?? []
    const row = rowOf(id)
    return row?.state === 'made' && String(row.at) === at ? join(folderOf(id), `${Number(sheet)}.jpg`) : undefined
  }

  /**
   * @param account  the requesting account; default: none, for requests of plugins
   * @returns whether there is something to make
   */
  async function want(id: string, account = 0): Promise<boolean> {
    const row = rowOf(id)
    // The cache may have been emptied.
    const isLost = row?.state === 'made' && !(await stat(folderOf(id)).catch(() => undefined))
    if (row && !isLost) return row.state === 'wanted'
    if (!isWanted()) return false
    await set(id, 'wanted', { account })
    await dropOldest(false)
    return true
  }

  /** Called after a download. @returns whether there is something to download */
  async function offer(id: string, storyboard: Storyboard): Promise<boolean> {
    if (!isWanted()) return false
    await set(id, 'wanted', { offer: JSON.stringify(storyboard) })
    await dropOldest(true)
    return true
  }

  /** The platform's sheets. undefined: sheets are made from the film. */
  function offerOf(id: string): Storyboard | undefined {
    const { state, offer = '' } = rowOf(id) ?? {}
    return state === 'wanted' && offer !== '' ? (JSON.parse(offer) as Storyboard) : undefined
  }

  /** The next video: accounts take turns; within an account, the film played last comes first. */
  function next(): Wish | undefined {
    const newest = ledger
      .sql<Wish & { account: number }>(
        `SELECT id, at, account FROM (SELECT video_id AS id, at, account, rowid AS number,
            row_number() OVER (PARTITION BY account ORDER BY at DESC, rowid DESC) AS place
            FROM library_preview WHERE state = 'wanted')
          WHERE place = 1 ORDER BY at DESC, number DESC`,
      )
      .all()
    const turnOf = ({ account }: { account: number }): number => turns.get(account) ?? 0
    const [first, ...others] = newest
    if (!first) return undefined
    const { id, at, account } = others.reduce((best, one) => (turnOf(one) < turnOf(best) ? one : best), first)
    turns.set(account, ++turn)
    return { id, at }
  }

  /** Whether the previews are still wanted: the film may have been replaced. */
  function isStill({ id, at }: Wish): boolean {
    const row = rowOf(id)
    return row?.state === 'wanted' && row.at === at
  }

  /** Moves the finished draft into the cache, then writes the row. */
  async function keep(id: string, shape: Shape): Promise<void> {
    let bytes = 0
    for (const name of await readdir(draftOf(id))) bytes += (await stat(join(draftOf(id), name))).size
    await rm(folderOf(id), { recursive: true, force: true })
    await rename(draftOf(id), folderOf(id))
    await set(id, 'made', { bytes, shape })
    await makeRoom(id)
  }

  /** Records that previews of this film are not tried again. */
  function giveUp(id: string): Promise<unknown> {
    return set(id, 'impossible')
  }

  /** Removes previews of videos that no longer exist. */
  async function dropUnknown(known: (ids: readonly string[]) => Promise<Set<string>>): Promise<void> {
    const all = ledger.sql<Row>('SELECT * FROM library_preview').all()
    const ids = all.map(({ video_id: id }) => id)
    const there = await known(ids)
    await drop(ids.filter((id) => !there.has(id)))
  }

  function folderOf(id: string): string {
    return join(folder, id)
  }

  function rowOf(id: string): Row | undefined {
    return ledger.sql<Row>('SELECT * FROM library_preview WHERE video_id = ?').get(id)
  }

  function set(
    id: string,
    state: Row['state'],
    {
      bytes = 0,
      shape = {},
      offer = '',
      account = 0,
    }: { bytes?: number; shape?: Shape | object; offer?: string; account?: number } = {},
  ): Promise<unknown> {
    return ledger.write(() =>
      ledger
        .sql(
          `INSERT OR REPLACE INTO library_preview (video_id, state, at, bytes, shape, offer, account)
            VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, state, clock.now(), bytes, JSON.stringify(shape), offer, account),
    )
  }

  /**
   * Drops the oldest waiting videos. Played and downloaded films are counted separately. Each account keeps its newest,
   * so that an account with very many requests only drops its own.
   */
  function dropOldest(isOffered: boolean): Promise<unknown> {
    return ledger.write(() =>
      ledger
        .sql(
          `DELETE FROM library_preview WHERE state = 'wanted' AND (offer <> '') = ? AND video_id NOT IN
            (SELECT video_id FROM (SELECT video_id, at, rowid AS number,
                row_number() OVER (PARTITION BY account ORDER BY at DESC, rowid DESC) AS place
                FROM library_preview WHERE state = 'wanted' AND (offer <> '') = ?)
              ORDER BY place, at DESC, number DESC LIMIT ?)`,
        )
        .run(Number(isOffered), Number(isOffered), MOST_WANTED),
    )
  }

  async function makeRoom(except: string): Promise<void> {
    const sum = ledger.sql<{ all_bytes: number }>('SELECT coalesce(sum(bytes), 0) AS all_bytes FROM library_preview')
    const oldest = ledger.sql<Row>(
      `SELECT * FROM library_preview WHERE state = 'made' AND video_id <> ? ORDER BY at LIMIT 1`,
    )
    while (sum.get()!.all_bytes > ROOM_BYTES) {
      const row = oldest.get(except)
      if (!row) return
      await drop([row.video_id])
    }
  }

  return {
    begin,
    isWanted,
    stateOf,
    sheetsOf,
    pathOf,
    draftOf,
    want,
    offer,
    offerOf,
    next,
    isStill,
    keep,
    giveUp,
    drop,
    dropUnknown,
  }
}

export type Previews = ReturnType<typeof openPreviews>
