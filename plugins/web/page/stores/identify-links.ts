/** Identifies the words of a pasted text: first by form, then handles by a request to the platform. */
import { useEffect, useState } from 'preact/hooks'
import { type Failure, get, isAborted, toFailure } from '../server/api.ts'
import { listen } from '../server/events.ts'
import type { Target } from '../server/records.ts'

export interface Understood {
  /** The word as it was pasted, which is sent to the server. */
  word: string
  target: Target
  /** Shown until the platform has answered. */
  name?: string
}

export interface Reading {
  understood: Understood[]
  /** Words that are neither ids nor links of the platform. */
  others: string[]
  /** Names of channels that the platform does not know; the page offers no action for them. */
  nobody: string[]
}

const REST_MS = 150
/** Pause in typing before a request to the platform. */
const HANDLE_REST_MS = 600
/**
 * Maximum number of handles to look up, because each takes a second or two. The task that receives a longer list checks
 * the others.
 */
const MOST_HANDLES = 5
/** Limits of one request: its length, and the number of words that the server reads. */
const MOST_CHARACTERS = 1000
const MOST_WORDS = 60
/** Maximum number of words; further words are ignored. This is enough for a complete export of subscriptions. */
const MOST_PASTED = 2000
const NOTHING: Reading = { understood: [], others: [], nobody: [] }

/**
 * Age at which results expire. The meaning of a word does not change while the page is open, but whether its target is
 * in the archive does; so results also expire when a download ends.
 */
const FRESH_MS = 60_000
const known = new Map<string, { target: Target | undefined; atMs: number }>()
const handles = new Map<string, { isThere: boolean; atMs: number }>()
listen('queue', (change) => void ('removed' in change && known.clear()))
const isFresh = (cached: { atMs: number } | undefined): boolean => Date.now() - (cached?.atMs ?? 0) < FRESH_MS

export const wordsOf = (text: string): string[] =>
  [...new Set(text.split(/[\s,;]+/).filter(Boolean))].slice(0, MOST_PASTED)

/** @throws Failure */
export async function understand(text: string, signal?: AbortSignal): Promise<Reading> {
  const words = wordsOf(text)
  /** A copy, because `known` is emptied when a download ends, also during a request. */
  const results = new Map([...known].filter(([, result]) => isFresh(result)))
  for (const part of parts(words.filter((word) => !results.has(word) && word.length <= MOST_CHARACTERS))) {
    const targets = await get<Target[]>('/api/resolve/', { q: part.join(' ') }, signal)
    for (const [word, target] of assigned(part, targets)) {
      const result = { target, atMs: Date.now() }
      results.set(word, result)
      known.set(word, result)
    }
  }
  const reading: Reading = { understood: [], others: [], nobody: [] }
  for (const word of words) {
    const target = results.get(word)?.target
    if (target && handles.get(target.id)?.isThere === false && isFresh(handles.get(target.id)))
      reading.nobody.push(word)
    else if (target) reading.understood.push({ word, target })
    else reading.others.push(word)
  }
  return reading
}

/** Whether the word is a channel's name, which may not exist: channel ids have a fixed form, names have any other. */
const isName = ({ target: { type, id, known } }: Understood): boolean =>
  type === 'channel' && !known && !/^[\w-]{24}$/.test(id)
const isOpen = (one: Understood): boolean => isName(one) && !isFresh(handles.get(one.target.id))

/** How long a pressed button waits for the platform. */
const LONGEST_WAIT_MS = 5000
export const lookUpSoon = (reading: Reading): Promise<Reading> => lookUp(reading, AbortSignal.timeout(LONGEST_WAIT_MS))

/**
 * Checks the names in a reading on the platform. If the platform does not respond, the names stay: the task that
 * receives them reports unknown ones.
 */
export async function lookUp(reading: Reading, signal?: AbortSignal): Promise<Reading> {
  const nobody: string[] = []
  for (const { word, target } of reading.understood.filter(isOpen).slice(0, MOST_HANDLES)) {
    const isThere = await isOnPlatform(word, signal)
    if (isThere !== undefined) handles.set(target.id, { isThere, atMs: Date.now() })
    if (isThere === false) nobody.push(word)
  }
  if (nobody.length === 0) return reading
  return {
    ...reading,
    understood: reading.understood.filter(({ word }) => !nobody.includes(word)),
    nobody: [...reading.nobody, ...nobody],
  }
}

/** @returns undefined: the platform cannot tell now */
async function isOnPlatform(word: string, signal?: AbortSignal): Promise<boolean | undefined> {
  try {
    await get('/api/channel/search/', { q: word }, signal)
    return true
  } catch (error) {
    if (isAborted(error)) throw error
    const { status, body } = toFailure(error)
    return status === 404 && 'channel_id' in body ? body['channel_id'] !== null : undefined
  }
}

/**
 * Assigns targets to words. Targets are in the order of their words, and each id is a part of its word. Unknown words
 * have no target.
 */
function assigned(words: readonly string[], targets: readonly Target[]): Array<[word: string, Target | undefined]> {
  let at = 0
  return words.map((word) => {
    const target = targets[at]
    const isIt = target !== undefined && decoded(word).includes(target.id)
    if (isIt) at++
    return [word, isIt ? target : undefined]
  })
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word // a stray percent sign
  }
}

function parts(words: readonly string[]): string[][] {
  const all: string[][] = []
  let length = Infinity
  for (const word of words) {
    if (length + word.length > MOST_CHARACTERS || all.at(-1)!.length >= MOST_WORDS) {
      all.push([])
      length = 0
    }
    all.at(-1)!.push(word)
    length += word.length + 1
  }
  return all
}

/** Identifies text while somebody types, after a short pause. */
export function useUnderstood(text: string): { reading: Reading; failure: Failure | undefined; isReading: boolean } {
  const [reading, setReading] = useState(NOTHING)
  const [failure, setFailure] = useState<Failure>()
  const [isReading, setIsReading] = useState(false)
  useEffect(() => {
    setFailure(undefined)
    if (text.trim() === '') {
      setReading(NOTHING)
      return setIsReading(false)
    }
    setIsReading(true)
    const ending = new AbortController()
    let timer = setTimeout(() => void read(), REST_MS)
    async function read(): Promise<void> {
      try {
        const read = await understand(text, ending.signal)
        setReading(read)
        setIsReading(false)
        if (read.understood.some(isOpen))
          // the next key press aborts it
          timer = setTimeout(() => void lookUp(read, ending.signal).then(setReading, () => undefined), HANDLE_REST_MS)
      } catch (error) {
        if (isAborted(error)) return
        setFailure(toFailure(error))
        setIsReading(false)
      }
    }
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])
  return { reading, failure, isReading }
}
