/**
 * What is asked of a server that may be killed at any moment, and what must be true of it whenever it is left in peace.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CHANNEL, VIDEO } from '../platform/seed.mjs'
import { MEDIA_FOLDER } from '../platform/start.ts'
import { archivedIds, assertWhole, queuedIds } from '../support/library.ts'
import { allQuiet, type Server } from '../support/server.ts'
import type { Disk } from './disk.ts'

const IDS = Object.values(VIDEO) as string[]
/** As of the test library's clips: what a person would put into the import folder. */
const FILM = join(MEDIA_FOLDER, 'wide-3s/18.mp4')
const FLOOR_BYTES = 200 << 20
const QUIET_WITHIN_MS = 600_000

/** What is tried again in ten minutes, such as a refresh that found the disk away, is left alone. */
const quiet = (server: Server): Promise<void> => allQuiet(server, QUIET_WITHIN_MS, ['PENDING'])

const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item

export class Story {
  /** Asked for and answered: what has been accepted must come true. */
  readonly #wanted = new Set<string>()
  /** Accepted before or while a restore, which puts the queue of then in its place; the library's films stay. */
  readonly #underRestore = new Set<string>()
  readonly #done: Record<string, number> = {}
  #isRestoring = false
  readonly #dataDir: string
  readonly #disk: Disk | undefined

  constructor(dataDir: string, disk: Disk | undefined) {
    this.#dataDir = dataDir
    this.#disk = disk
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#done
  }

  /** Asks for one thing after the other until the server is gone. */
  async live(server: Server): Promise<void> {
    // What the life before took away may still be away at a start.
    if (Math.random() < 0.5) await this.#mend()
    await server.api('POST', '/api/config/', {
      downloads: { sleep_interval: 0, subtitle: 'en,de', subtitle_index: true, comment_max: '20' },
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
      this.#vanish,
      this.#fill,
    ]
    for (;;) {
      const act = Math.random() < 0.6 ? this.#toggle : oneOf(rare)
      await act.call(this, server)
      await delay(Math.random() * 300)
    }
  }

  /** Leaves the server in peace until it has nothing to do, and compares everything. */
  async look(server: Server): Promise<void> {
    await this.#mend()
    await server.api('POST', '/api/platform/', { command: 'retry' })
    await quiet(server)
    await this.#start(server, '/api/task-name/manual_import/')
    await quiet(server)
    await this.#start(server, '/api/library/rescan/', { force: true })
    await this.#start(server, '/api/task-name/download_pending/')
    await quiet(server)
    await assertWhole(server, this.#dataDir, this.#disk?.mediaDir)
    await this.#assertBackups(server)

    const found = new Set([...(await archivedIds(server)), ...(await queuedIds(server))])
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
      // From now on both are right, until a delete has been answered.
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

  async #checkPictures(server: Server): Promise<void> {
    this.#count('pictures', (await server.api('POST', '/api/task-name/thumbnail_check/')).status === 200)
  }

  /** For a moment; where the server dies meanwhile, the disk is there again before the next look. */
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

  /** The disk is there, with room. */
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
      // One that was made before there was a video is whole, and refused.
      assert.ok(status === 200 || /no document/i.test(answer?.detail), `${filename} can be read: ${answer?.detail}`)
    }
    const folder = join(this.#dataDir, 'backups')
    const left = existsSync(folder) ? (await readdir(folder)).filter((name) => !name.endsWith('.zip')) : []
    assert.deepEqual(left, [], 'no half backup is left')
  }
}
