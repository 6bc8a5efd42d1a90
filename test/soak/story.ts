/** The requests to a server that may be killed at any moment, and what must be true whenever it is idle. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { findBuiltIn } from '../../config/cli/find-plugins.ts'
import { CHANNEL, PLAYLIST, VIDEO } from '../platform/seed.mjs'
import { MEDIA_FOLDER } from '../platform/start.ts'
import { archivedIds, assertWhole, queuedIds } from '../support/library.ts'
import { allQuiet, type Server } from '../support/server.ts'
import type { Disk } from './disk.ts'

const IDS = Object.values(VIDEO) as string[]
/** A clip of the test library, as a file for the import folder. */
const FILM = join(MEDIA_FOLDER, 'wide-3s/18.mp4')
const FLOOR_BYTES = 200 << 20
/** The films in the location. */
export const PLACED = ['placedfilm1', 'placedfilm2', 'placedfilm3']
/**
 * Tasks that need something that is missing here: a package index, a release, a cookie, a damaged index, an older
 * ledger, or a day of waiting.
 */
const NOT_HERE = new Set([
  'ask.show',
  'ask_made',
  'cookie_expired',
  'download_failed',
  'fetch_subtitles',
  'follow_places',
  'library.forgetRemoved',
  'library.tellMoved',
  'notification.lookAtRequests',
  'platform_stopped',
  'refresh.forgetGone',
  'snapshot.mend',
  'snapshot.offer',
  'update_downloader',
  'version_check',
  'video.tellRemoved',
  'watch.forgetGone',
  'watch.relearn',
  'watch.settle',
])
const QUIET_WITHIN_MS = 600_000

/** Does not wait for retries in ten minutes, such as that of a refresh for which the disk was missing. */
const quiet = (server: Server): Promise<void> => allQuiet(server, QUIET_WITHIN_MS, ['PENDING'])

const TASKS = (await findBuiltIn()).flatMap(({ plugin }) => plugin.tasks?.map(({ name }) => name) ?? [])

const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item

export class Story {
  /** Accepted requests, whose results must appear. */
  readonly #wanted = new Set<string>()
  /**
   * Requests that were accepted before or during a restore, which replaces the queue by the restored one; the library's
   * films stay.
   */
  readonly #underRestore = new Set<string>()
  readonly #ran = new Set<string>()
  readonly #done: Record<string, number> = {}
  #isRestoring = false
  readonly #dataDir: string
  readonly #disk: Disk | undefined
  readonly #root: string
  readonly #receiver: string

  /**
   * @param parts.root  the folder with the location.
   * @param parts.receiver  receives webhooks
   */
  constructor(parts: { dataDir: string; disk: Disk | undefined; root: string; receiver: string }) {
    this.#dataDir = parts.dataDir
    this.#disk = parts.disk
    this.#root = parts.root
    this.#receiver = parts.receiver
  }

  /** Tasks that have never run. Collected from the ledger at each check, because the ledger deletes old rows. */
  tasksLeft(): string[] {
    const ledger = new Database(join(this.#dataDir, 'ledger.sqlite'), { readonly: true })
    try {
      for (const name of ledger.prepare('SELECT DISTINCT task FROM jobs').pluck().all() as string[]) this.#ran.add(name)
      return TASKS.filter((name) => !this.#ran.has(name) && !NOT_HERE.has(name))
    } finally {
      ledger.close()
    }
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#done
  }

  /** Sends one request after the other until the server is gone. */
  async live(server: Server): Promise<void> {
    // The disk may still be missing from the previous run.
    if (Math.random() < 0.5) await this.#mend()
    await server.api('POST', '/api/config/', {
      downloads: { sleep_interval: 0, subtitle: 'en,de', subtitle_index: true, comment_max: '20', integrate_ryd: true },
    })
    const rare = [
      this.#import,
      this.#rescan,
      this.#backUp,
      this.#restore,
      this.#refresh,
      this.#snapshot,
      this.#restoreSnapshot,
      this.#scan,
      this.#checkPictures,
      this.#degraded,
      this.#own,
      this.#mark,
      this.#subscribe,
      this.#removeChannel,
      this.#place,
      this.#play,
      this.#hook,
      this.#account,
      this.#vanish,
      this.#fill,
    ]
    for (;;) {
      const act = Math.random() < 0.6 ? this.#toggle : oneOf(rare)
      await act.call(this, server)
      await delay(Math.random() * 300)
    }
  }

  /** Waits until the server has nothing to do, and compares everything. */
  async look(server: Server): Promise<void> {
    await this.#mend()
    await server.api('POST', '/api/platform/', { command: 'retry' })
    await quiet(server)
    await this.#start(server, '/api/task-name/manual_import/')
    await quiet(server)
    await this.#moveOut(server)
    await this.#start(server, '/api/library/rescan/', { force: true })
    await this.#start(server, '/api/task-name/download_pending/')
    await quiet(server)
    await assertWhole(server, this.#dataDir, this.#disk?.mediaDir)
    await this.#assertBackups(server)

    const found = new Set(
      [...(await archivedIds(server)), ...(await queuedIds(server))].filter((id) => IDS.includes(id)),
    )
    const lost = [...this.#wanted].filter((id) => !found.has(id) && !this.#underRestore.has(id))
    assert.deepEqual(lost, [], 'everything accepted is there')
    this.#underRestore.clear()
    this.#isRestoring = false
    this.#wanted.clear()
    for (const id of found) this.#wanted.add(id)
  }

  #count(what: string, isAccepted: boolean): void {
    if (isAccepted) this.#done[what] = (this.#done[what] ?? 0) + 1
  }

  async #start(server: Server, path: string, body?: unknown): Promise<void> {
    const { status, body: answer } = await server.api('POST', path, body)
    assert.equal(status, 200, `${path}: ${JSON.stringify(answer)}`)
  }

  #want(id: string): void {
    this.#wanted.add(id)
    if (this.#isRestoring) this.#underRestore.add(id)
  }

  async #toggle(server: Server): Promise<void> {
    const id = oneOf(IDS)
    if (this.#wanted.delete(id)) {
      // From now on both results are correct, until a delete has been answered.
      const { status } = await server.api('DELETE', `/api/video/${id}/`)
      this.#count('removal', status === 200)
      if (status !== 200) this.#want(id)
    } else {
      const { status } = await server.api('POST', '/api/download/?autostart=true', { data: [{ youtube_id: id }] })
      this.#count('download', status === 200)
      if (status === 200) this.#want(id)
    }
  }

  async #import(server: Server): Promise<void> {
    const id = oneOf(IDS.filter((one) => !this.#wanted.has(one)))
    if (id === undefined) return
    const folder = join(this.#dataDir, 'import')
    await mkdir(folder, { recursive: true })
    await copyFile(FILM, join(folder, `.${id}.part`))
    await rename(join(folder, `.${id}.part`), join(folder, `${id}.mp4`))
    this.#want(id)
    const { status } = await server.api('POST', '/api/task-name/manual_import/')
    this.#count('import', status === 200)
  }

  async #rescan(server: Server): Promise<void> {
    this.#count('rescan', (await server.api('POST', '/api/library/rescan/')).status === 200)
  }

  async #backUp(server: Server): Promise<void> {
    this.#count('backup', (await server.api('POST', '/api/backup/')).status === 200)
  }

  async #restore(server: Server): Promise<void> {
    const { body } = await server.api('GET', '/api/backup/')
    if (body.length > 0)
      await this.#replace('restore', server, `/api/backup/${oneOf<{ filename: string }>(body).filename}/`)
  }

  async #snapshot(server: Server): Promise<void> {
    this.#count('snapshot', (await server.api('POST', '/api/snapshot/')).status === 200)
  }

  async #restoreSnapshot(server: Server): Promise<void> {
    const { body } = await server.api('GET', '/api/snapshot/')
    const whole = body.snapshots.filter(({ state }: { state: string }) => state === 'SUCCESS')
    if (whole.length > 0)
      await this.#replace('restore of a snapshot', server, `/api/snapshot/${oneOf<{ id: string }>(whole).id}/`)
  }

  async #replace(what: string, server: Server, path: string): Promise<void> {
    this.#isRestoring = true
    for (const id of this.#wanted) this.#underRestore.add(id)
    this.#count(what, (await server.api('POST', path)).status === 200)
  }

  async #refresh(server: Server): Promise<void> {
    const { status } = await server.api('POST', '/api/refresh/', { video: IDS, channel: Object.values(CHANNEL) })
    this.#count('refresh', status === 200)
  }

  async #scan(server: Server): Promise<void> {
    await server.api('POST', '/api/channel/', {
      data: [{ channel_id: oneOf(Object.values(CHANNEL) as string[]), channel_subscribed: Math.random() < 0.5 }],
    })
    this.#count('scan', (await server.api('POST', '/api/task-name/update_subscribed/')).status === 200)
  }

  async #degraded(server: Server): Promise<void> {
    for (const task of ['resync_thumbs', 'download_missing']) await server.api('POST', `/api/task-name/${task}/`)
    this.#count('better ones', (await server.api('POST', '/api/task-name/redownload_degraded/')).status === 200)
  }

  /** Creates a custom playlist, shares it, makes it private again, and deletes it. */
  async #own(server: Server): Promise<void> {
    const body = { playlist_name: 'Soak', playlist_visibility: oneOf(['private', 'shared']) }
    const { status, body: list } = await server.api('POST', '/api/playlist/custom/', body)
    this.#count('playlist', status === 200)
    if (status !== 200) return
    const path = `/api/playlist/${list.playlist_id}/`
    await server.api('POST', path, { video_id: oneOf(IDS), action: 'create' })
    for (const playlist_visibility of ['shared', 'private', 'shared'])
      await server.api('POST', `/api/playlist/custom/${list.playlist_id}/`, { playlist_visibility })
    await server.api('DELETE', path)
  }

  async #mark(server: Server): Promise<void> {
    const id = oneOf([...this.#wanted, ...(Object.values(CHANNEL) as string[])])
    const { status } = await server.api('POST', '/api/watched/', { id, is_watched: Math.random() < 0.5 })
    this.#count('mark', status === 200)
  }

  async #subscribe(server: Server): Promise<void> {
    const [channel, list] = [oneOf(Object.values(CHANNEL) as string[]), oneOf(Object.values(PLAYLIST) as string[])]
    await server.api('POST', `/api/channel/${channel}/`, { channel_overwrites: { index_playlists: true } })
    const body = { data: [{ playlist_id: list, playlist_subscribed: true }] }
    this.#count('subscription', (await server.api('POST', '/api/playlist/', body)).status === 200)
  }

  /** With all its videos; until the request has been answered, both results are correct. */
  async #removeChannel(server: Server): Promise<void> {
    if (Math.random() < 0.7) return
    const channel = oneOf(Object.values(CHANNEL) as string[])
    const { status, body } = await server.api('GET', `/api/video/?channel=${channel}`)
    if (status !== 200) return
    for (const { platform_id: id } of body.data as Array<{ platform_id: string }>) this.#wanted.delete(id)
    this.#count('removal of a channel', (await server.api('DELETE', `/api/channel/${channel}/`)).status === 200)
  }

  /** Imports films, one of which gets a playable copy, and may undo the import, as far as the server survives. */
  async #place(server: Server): Promise<void> {
    const { status, body: place } = await server.api('POST', '/api/place/', { path: join(this.#root, 'films') })
    if (status !== 200) return
    for (let step = 0; step < 3; step++) {
      const newest = await this.#adoption(server)
      if (newest?.state === 'adopted') await this.#play(server)
      const next = { planned: 'adopt', adopted: 'undo', failed: 'adopt' }[newest?.state ?? '']
      const asked = next
        ? await server.api('POST', `/api/adoption/${newest!.id}/`, { command: next })
        : await server.api('POST', '/api/adoption/', { place: place.id })
      this.#count('place', asked.status === 200)
      if (asked.status !== 200 || next === 'undo') return
    }
  }

  /** The latest one, if no job is running for it. */
  async #adoption(server: Server): Promise<{ id: number; state: string } | undefined> {
    for (;;) {
      const [newest] = (await server.api('GET', '/api/adoption/')).body.adoptions
      if (!['scanning', 'adopting', 'undoing'].includes(newest?.state)) return newest
      await delay(100)
    }
  }

  /** Plays a film of the location, which needs a playable copy. */
  async #play(server: Server): Promise<void> {
    await server.api('POST', `/api/video/${oneOf([...IDS, ...PLACED])}/preview/`)
    this.#count('copy', (await server.api('POST', `/api/video/${oneOf(PLACED)}/copy/`, {})).status === 200)
  }

  async #hook(server: Server): Promise<void> {
    const { body } = await server.api('GET', '/api/webhook/')
    if (JSON.stringify(body).includes(this.#receiver)) return
    const hook = { name: 'Soak', url: this.#receiver, events: ['video.added', 'video.removed'] }
    this.#count('webhook', (await server.api('POST', '/api/webhook/', hook)).status === 200)
  }

  /** Creates and deletes an account; the index removes its marks. */
  async #account(server: Server): Promise<void> {
    const body = { username: `soak-${Math.random().toString(36).slice(2)}`, password: 'a long soak of kills' }
    const { status, body: account } = await server.api('POST', '/api/user/', body)
    if (status !== 200) return
    this.#count('account', (await server.api('DELETE', `/api/user/${account.id}/`)).status === 200)
  }

  /** Undoes the import: the library then contains only the films of its own folder. */
  async #moveOut(server: Server): Promise<void> {
    const { body } = await server.api('GET', '/api/adoption/')
    const answers: unknown[] = []
    for (const { id, state } of body.adoptions as Array<{ id: number; state: string }>) {
      const { status, body: answer } = await server.api('POST', `/api/adoption/${id}/`, { command: 'undo' })
      await quiet(server)
      const { body: after } = await server.api('GET', `/api/adoption/${id}/`)
      answers.push([id, state, status, answer?.message, after.state, after.reason])
    }
    const { body: places } = await server.api('GET', '/api/place/')
    for (const { videos } of places.places) assert.equal(videos, 0, `the import is undone: ${JSON.stringify(answers)}`)
  }

  async #checkPictures(server: Server): Promise<void> {
    this.#count('pictures', (await server.api('POST', '/api/task-name/thumbnail_check/')).status === 200)
  }

  /** Removes the disk for a moment; if the server is killed meanwhile, the disk is back before the next check. */
  async #vanish(server: Server): Promise<void> {
    if (!this.#disk) return
    await this.#disk.leave()
    this.#count('disk away', true)
    for (let asked = 0; asked < 3; asked++) await this.#toggle(server)
    await delay(Math.random() * 1000)
    await this.#mend()
  }

  async #fill(server: Server): Promise<void> {
    if (!this.#disk) return
    await this.#disk.fill(oneOf([0, 1 << 20, FLOOR_BYTES - (1 << 20)]))
    this.#count('disk full', true)
    for (let asked = 0; asked < 3; asked++) await this.#toggle(server)
    await delay(Math.random() * 1000)
    await this.#mend()
  }

  /** The disk is mounted, with free space. */
  async #mend(): Promise<void> {
    await this.#disk?.empty()
    const strays = (await this.#disk?.comeBack()) ?? []
    assert.deepEqual(
      strays.filter((path) => path.endsWith('.mp4') && !path.startsWith('.')),
      [],
      'no film lies where the disk was not',
    )
  }

  async #assertBackups(server: Server): Promise<void> {
    const { body } = await server.api('GET', '/api/backup/')
    for (const { filename } of body) {
      const { status, body: answer } = await server.api('GET', `/api/backup/${filename}/preview/`)
      // A backup that was created before the first video is complete, but refused.
      assert.ok(status === 200 || /no document/i.test(answer?.detail), `${filename} can be read: ${answer?.detail}`)
    }
    const folder = join(this.#dataDir, 'backups')
    const left = existsSync(folder) ? (await readdir(folder)).filter((name) => !name.endsWith('.zip')) : []
    assert.deepEqual(left, [], 'no half backup is left')
  }
}
