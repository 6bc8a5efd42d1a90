/** What readers read a place with: the reading thread, the platform's ids, tags of single files. */
import { errors, isAppError, type JobContext } from 'archivolt'
import type { App } from '../app.ts'
import { pathOf } from '../names.ts'
import { type ReadingThread, startReading } from '../reading.ts'
import type { Walked } from '../worker.ts'
import type { FoundFile, Look, PlaceReader, PlaceTools } from './types.ts'
import { ytdlpReader } from './ytdlp.ts'

/** Of files that nothing else tells of so many are asked for their tags: each takes a program of its own. */
const MOST_TAGGED = 500

export interface PlaceReading {
  tools: PlaceTools
  walk(): AsyncGenerator<Walked>
  end(): Promise<void>
}

type Run = Pick<JobContext<object>, 'signal' | 'log'>

export function openPlace(path: string, job: Run, app: App): PlaceReading {
  let started: ReadingThread | undefined
  const thread = (): ReadingThread => (started ??= startReading())
  let tagged = 0
  const videoIn = (text: string): string | undefined => {
    const [target, ...others] = app.platform.targetsIn(text)
    return target?.type === 'video' && others.length === 0 ? target.id : undefined
  }
  const tools: PlaceTools = {
    extractor: app.platform.name.toLowerCase(),
    videoIn,
    look: (files) => lookAt(path, files, thread(), job, app),
    metadataOf(info, id) {
      try {
        return app.platform.metadataOf(info, id)
      } catch (thrown) {
        if (isAppError(thrown, 'unprocessable')) return undefined
        throw thrown
      }
    },
    async idInTags(file: FoundFile) {
      if (tagged++ >= MOST_TAGGED) return undefined
      const tags = await app.media.tagsIn(`${path}/${pathOf(file)}`, job.signal)
      for (const key of ['purl', 'comment', 'synopsis', 'description']) {
        const [line = ''] = (tags.get(key) ?? '').trim().split(/\s/, 1)
        const id = line.startsWith('http') ? videoIn(line) : undefined
        if (id !== undefined) return id
      }
      return undefined
    },
  }
  return { tools, walk: () => walk(path, thread(), job, app), end: async () => started?.end() }
}

async function* walk(path: string, thread: ReadingThread, { signal }: Run, { media }: App): AsyncGenerator<Walked> {
  const { endings } = media.containers
  const roots = await media.places.realRoots()
  const id = await thread.ask('open', { path, roots, endings }, signal)
  for (;;) {
    const walked = await thread.ask('next', { walk: id }, signal)
    yield walked
    if (walked.isDone) return
  }
}

async function lookAt(
  path: string,
  files: readonly FoundFile[],
  thread: ReadingThread,
  { signal }: Run,
  { media }: App,
): Promise<Look[]> {
  const seen = await thread.ask('look', { path, files }, signal)
  return seen.map((one): Look => {
    if ('why' in one) return { isFilm: false, code: 'unreadable_file', why: one.why }
    const { head, ...rest } = one
    if (head.length === 0) return { isFilm: false, code: 'not_a_film', why: 'the file is empty' }
    if (!media.containers.isFilm(head))
      return { isFilm: false, code: 'not_a_film', why: 'it is no film, whatever its name says' }
    return { isFilm: true, ...rest }
  })
}

export const readersOf = (app: App): readonly PlaceReader[] => [...app.hook('library.reader'), ytdlpReader]

/** @throws unprocessable: there is none of this name */
export function readerOf(name: string, app: App): PlaceReader {
  const reader = readersOf(app).find((one) => one.name === name)
  if (!reader) throw errors.unprocessable(`Nothing here reads folders of ${name}: the plugin that does is turned off`)
  return reader
}

/** The one that is surest. @param names  of the upper levels of the place */
export function recognise(names: readonly string[], app: App): PlaceReader {
  const ranked = readersOf(app).map((reader) => ({ reader, sure: reader.recognise(names) }))
  return ranked.reduce((best, one) => (one.sure > best.sure ? one : best)).reader
}
