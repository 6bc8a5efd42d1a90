/**
 * Brings the files of units to the wanted state. Paths are claimed in the ledger before a file is touched, so that a
 * run after a kill continues at the same position; only differences are written.
 */
import { dirname, join } from 'node:path'
import { chunksOf, errors, filmInput, isAppError, say, type Words, wordsOf } from 'archivolt'
import type { App } from './app.ts'
import { codeOf, temporaryPart } from './disk.ts'
import type { Fault, Plan } from './plan.ts'
import { changed, note, type Run } from './run.ts'
import { subRip } from './subrip.ts'
import type { Rows, UnitName } from './tables.ts'
import { isMissing, type KnownFile, type WantedFile, type WantedUnit } from './types.ts'
import type { Made, Making } from './worker.ts'
import { diskFault, endsAll } from './worker-client.ts'

const MADE_AT_ONCE = 200
const STORED_AT_ONCE = 25
const CHARACTERS_AT_ONCE = 1_000_000
const IN_THE_WAY = say`A file that Archivolt did not create is in the way; move it elsewhere`
const FAULTS: Record<Fault, Words> = {
  'in the way': IN_THE_WAY,
  'changed by others': say`Another program has changed this file, so it stays as it is`,
  'film is missing': say`The file of this video is missing`,
}

/**
 * A unit with its show. While its stamp is unchanged, the unit is up to date. With the stamp '', the state is unknown
 * and the unit is compared.
 */
export interface ShownUnit extends WantedUnit {
  show: string
  stamp: string
}

interface Work extends UnitName {
  /** The wanted paths, in order. */
  paths: string[]
  known: Map<string, KnownFile>
  todo: WantedFile[]
  gone: string[]
  /** '' after a failure, so that the next whole render tries again. */
  stamp: string
}

export function openSettle(app: App, rows: Rows) {
  const { ledger } = app

  /** @param isForced  files in the library may have changed */
  return async function settle(run: Run, units: readonly ShownUnit[], isForced = false): Promise<void> {
    if (units.length === 0) return
    const before = units.map((one) => rows.unit(run.face.id, one) ?? { files: [], stamp: '' })
    const plans = await run.hand.ask('plan', {
      root: run.face.root,
      takesBack: run.face.takes_back === 1,
      isForced,
      units: units.map(({ files }, at) => ({ wanted: files.map(withoutText), known: before[at]!.files })),
    })
    const works = units.map((unit, at) => workOf(run, unit, before[at]!.files, plans[at]!))
    const isBusy = ({ todo, gone }: Work) => todo.length > 0 || gone.length > 0
    const busy = works.filter(isBusy)
    const others = works.filter(
      (work, at) => !isBusy(work) && (work.stamp !== before[at]!.stamp || plans[at]!.lacking.length > 0),
    )
    if (busy.length + others.length === 0) return
    run.signal.throwIfAborted()
    await storeAll([...busy, ...others], (work) => claim(run, work))
    if (busy.length === 0) return
    // New files are created first, so that a media server can transfer its marks when a file moves.
    await makeAll(run, busy)
    await removeAll(run, busy)
    await storeAll(busy, (work) => store(run, work))
  }

  /** Writes in small transactions, so that requests need not wait long. */
  async function storeAll(works: readonly Work[], work: (one: Work) => void): Promise<void> {
    await Promise.all([...chunksOf(works, STORED_AT_ONCE)].map((some) => ledger.write(() => some.forEach(work))))
  }

  function workOf(run: Run, unit: ShownUnit, known: readonly KnownFile[], plan: Plan): Work {
    for (const [path, fault] of plan.faults) note(run, path, FAULTS[fault])
    const stored = new Map(known.map((file) => [file[0], file]))
    for (const at of plan.lacking) {
      const file = unit.files[at]!
      if ('from' in file) stored.set(file.path, [file.path, file.mark, `-${file.from}`])
    }
    return {
      ...{ show: unit.show, unit: unit.unit, gone: plan.gone, paths: unit.files.map(({ path }) => path) },
      known: stored,
      todo: plan.todo.map((at) => unit.files[at]!),
      stamp: plan.faults.length > 0 ? '' : unit.stamp,
    }
  }

  /**
   * Claims the files of a unit. After a crash, the next run finds the unit by its claimed files or, if it has files to
   * remove, by the stamp ''.
   */
  function claim(run: Run, work: Work): void {
    store(run, work.gone.length > 0 ? { ...work, stamp: '' } : work, work.todo)
  }

  /** Stores the files of a unit in their order: the main file comes last. */
  function store({ face }: Run, work: Work, claimed: readonly WantedFile[] = []): void {
    const { show, unit, known, stamp, paths } = work
    const files = new Map(known)
    for (const { path, mark } of claimed) files.set(path, [path, mark, null])
    const order = [...files.values()].sort(([one], [other]) => paths.indexOf(one) - paths.indexOf(other))
    rows.setUnit(face.id, { show, unit, files: order, stamp })
  }

  async function makeAll(run: Run, works: readonly Work[]): Promise<void> {
    let batch: Array<{ work: Work; file: WantedFile; making: Making }> = []
    let characters = 0
    const flush = async () => {
      const made = await run.hand.ask(
        'make',
        batch.map(({ making }) => making),
      )
      for (const [at, one] of made.entries()) take(run, batch[at]!.work, batch[at]!.file, one)
      batch = []
      characters = 0
    }
    for (const work of works)
      for (const file of work.todo) {
        const making = await makingOf(run, file)
        if (!('path' in making)) {
          take(run, work, file, making)
          continue
        }
        batch.push({ work, file, making })
        if ('text' in making) characters += making.text.length
        if (batch.length >= MADE_AT_ONCE || characters > CHARACTERS_AT_ONCE) await flush()
      }
    await flush()
  }

  /** @returns the work for the worker; if the file cannot be created, its state or the reason */
  async function makingOf(run: Run, file: WantedFile): Promise<Making | Made | { reason: Words }> {
    const path = join(run.face.root, file.path)
    try {
      switch (file.kind) {
        case 'text':
          return { path, text: file.text }
        case 'subtitles':
          return { path, text: await subRip(app.videos.cuesIn(file.from)) }
        case 'film':
          return { path, from: file.from, as: file.isSoft ? 'film of a place' : 'film' }
        case 'picture':
          return { path, from: file.from, as: 'picture' }
        case 'sound':
          return { path, part: await makeSound(run, path, file) }
      }
    } catch (thrown) {
      run.signal.throwIfAborted()
      if ('from' in file && codeOf(thrown) === 'ENOENT') return { seen: `-${file.from}` }
      if (!isAppError(thrown)) app.log.warn({ err: thrown, face: run.face.id }, 'a file of a face could not be created')
      return { reason: wordsOf(thrown) }
    }
  }

  async function makeSound(run: Run, path: string, { from, codec }: WantedFile & { kind: 'sound' }): Promise<string> {
    await run.hand.ask('folder', dirname(path))
    const part = temporaryPart(path)
    const to = codec === 'aac' ? ['copy'] : ['aac', '-b:a', '160k']
    await app.media.ffmpeg([...filmInput(from), '-map', '0:a:0', '-c:a', ...to, '-f', 'ipod', `file:${part}`], {
      signal: run.signal,
      isBehind: true,
    })
    return part
  }

  /** @throws unavailable, unprocessable: no other file can be created either */
  function take(run: Run, work: Work, file: WantedFile, made: Made | { reason: Words }): void {
    if ('seen' in made && made.seen !== undefined) {
      const isNew = !work.known.has(file.path) || isMissing(work.known.get(file.path)![2])
      work.known.set(file.path, [file.path, file.mark, made.seen])
      if (isMissing(made.seen) || made.isSame) return
      changed(run, file.path, isNew ? 'added' : 'changed')
      if (file.kind === 'film' && made.link && made.link !== 'copy')
        run.state.links[made.link] = (run.state.links[made.link] ?? 0) + 1
      return
    }
    work.stamp = ''
    note(run, file.path, 'reason' in made ? made.reason : reasonOf(run, file, made as Made))
  }

  function reasonOf(run: Run, file: WantedFile, { code = '', message = '' }: Made): Words {
    if (code === 'EEXIST') return IN_THE_WAY
    const ends = endsAll(code)
    if (ends !== undefined) throw errors.unavailable(ends)
    if (code !== 'NOLINK') {
      app.log.warn({ code, message, face: run.face.id }, 'a file of a face could not be created')
      return diskFault(code)
    }
    const refused = noLink(message)
    if (file.kind === 'film' && !file.isSoft) throw errors.unprocessable(refused)
    return refused
  }

  async function removeAll(run: Run, works: readonly Work[]): Promise<void> {
    const files = works.flatMap(({ known, gone }) =>
      gone
        .filter((path) => !isMissing(known.get(path)![2]))
        .reverse()
        .map((path) => [path, known.get(path)![2]] as const),
    )
    const stay = new Set(files.length > 0 ? await run.hand.ask('remove', { root: run.face.root, files }) : [])
    for (const path of stay) note(run, path, IN_THE_WAY)
    for (const [path] of files) changed(run, path, 'removed')
    for (const { known, gone } of works) for (const path of gone) known.delete(path)
  }
}
/** @param code  the error code of the last kind of link that was tried */
export const noLink = (code: string): Words =>
  say`This folder cannot contain links to the library (${{ code }}): choose a folder on the library’s disk`

const withoutText = (file: WantedFile) => ({
  ...{ path: file.path, mark: file.mark, kind: file.kind },
  from: 'from' in file ? file.from : undefined,
})
