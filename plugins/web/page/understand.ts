/** What a pasted text is: word by word, by form alone, so that the field can say which words are none. */
import { useEffect, useState } from 'preact/hooks'
import { get, isAborted, toFailure, type Failure } from './api.ts'
import type { Target } from './records.ts'

export interface Understood {
  /** As it was pasted: what is sent back to the server. */
  word: string
  target: Target
}

export interface Reading {
  understood: Understood[]
  /** Words that are neither ids nor links of the platform. */
  others: string[]
}

const REST_MS = 150
/** One question carries so many characters, and the server looks at so many words of it. */
const MOST_CHARACTERS = 1000
const MOST_WORDS = 60
/** A whole export of a subscription list fits; what comes after it is left for the next time. */
const MOST_PASTED = 2000
const NOTHING: Reading = { understood: [], others: [] }

/** What words are does not change while the page is open, but whether they are in the archive does: kept for a minute. */
const KEPT_MS = 60_000
const known = new Map<string, { target: Target | undefined; atMs: number }>()

export const wordsOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))].slice(0, MOST_PASTED)

/** @throws Failure */
export async function understand(text: string, signal?: AbortSignal): Promise<Reading> {
  const words = wordsOf(text)
  const isFresh = (word: string) => Date.now() - (known.get(word)?.atMs ?? 0) < KEPT_MS
  for (const part of parts(words.filter((word) => !isFresh(word) && word.length <= MOST_CHARACTERS))) {
    const targets = await get<Target[]>('/api/resolve/', { q: part.join(' ') }, signal)
    assign(part, targets)
  }
  const reading: Reading = { understood: [], others: [] }
  for (const word of words) {
    const target = known.get(word)?.target
    if (target) reading.understood.push({ word, target })
    else reading.others.push(word)
  }
  return reading
}

/** The targets come in the order of their words, and hold a part of each; words that are none have left no trace. */
function assign(words: readonly string[], targets: readonly Target[]): void {
  const atMs = Date.now()
  let at = 0
  for (const word of words) {
    const target = targets[at]
    const isIt = target !== undefined && decoded(word).includes(target.id)
    known.set(word, { target: isIt ? target : undefined, atMs })
    if (isIt) at++
  }
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

/** As it is typed, after a moment of rest. */
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
    const timer = setTimeout(
      () =>
        understand(text, ending.signal).then(
          (read) => (setReading(read), setIsReading(false)),
          (error: unknown) => !isAborted(error) && (setFailure(toFailure(error)), setIsReading(false)),
        ),
      REST_MS,
    )
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])
  return { reading, failure, isReading }
}
