/** What a reply is made from: the ports note what is read meanwhile, so that no handler lists it. */

/** A collection, a table, the rows of one account in a table, or what lies in memory. */
export interface Source {
  /** Grows with each change. undefined: nobody here knows when it changes. */
  readonly version: number | undefined
}

/** Each with its version when it was first read: a change while the reply is made counts too. */
export type Sources = Map<Source, number | undefined>

/** A source without a version: what is made from it is not cached. */
export const UNKNOWN: Source = { version: undefined }

const recording = new Set<Sources>()

/** To be called before each read. */
export function noteRead(source: Source): void {
  for (const sources of recording) if (!sources.has(source)) sources.set(source, source.version)
}

export const isRecorded = (): boolean => recording.size > 0

/** What others read meanwhile is added too: to tell them apart, Node would have to track every promise. */
export async function recordSources<Result>(sources: Sources, work: () => Promise<Result>): Promise<Result> {
  recording.add(sources)
  try {
    return await work()
  } finally {
    recording.delete(sources)
  }
}

/** Caches a value until one of the sources that it was found from changes. @param find  must not be asynchronous */
export function openCached(most: number): <Value>(key: string, find: () => Value) => Value {
  const cached = new Map<string, { value: unknown; sources: Sources }>()
  return <Value>(key: string, find: () => Value): Value => {
    const known = cached.get(key)
    if (known && isUnchanged(known.sources)) {
      for (const source of known.sources.keys()) noteRead(source)
      return known.value as Value
    }
    const sources: Sources = new Map()
    recording.add(sources)
    try {
      const value = find()
      if (cached.size >= most) cached.clear()
      cached.set(key, { value, sources })
      return value
    } finally {
      recording.delete(sources)
    }
  }
}

export function isUnchanged(sources: Sources): boolean {
  for (const [source, version] of sources) if (version === undefined || source.version !== version) return false
  return true
}

/** The version of values in memory that replies show: the ports of index and ledger do not see when they change. */
export interface Touched extends Source {
  readonly version: number
  touch(): void
}

export function openTouched(): Touched {
  let version = 0
  return {
    get version() {
      return version
    },
    touch: () => void version++,
  }
}
