/** Finds the video id of a file in its name, or in a text such as an address. */
import type { Platform } from '../platform/types.ts'

const IN_BRACKETS = /\[([^[\]]+)\]/g
/** As TubeArchivist did until 0.4. */
const AFTER_DAY = /^\d{8}_([A-Za-z0-9_-]{11})_/
/** As youtube-dl named files. */
const AT_END = /-([A-Za-z0-9_-]{11})$/

/**
 * Words in brackets, then the bare name. The last brackets come first because titles have brackets too.
 * @param base  without its ending
 */
export const wordsIn = (base: string): string[] => [...bracketsIn(base), base]

export const bracketsIn = (base: string): string[] =>
  [...base.matchAll(IN_BRACKETS)].map(([, word = '']) => word).reverse()

/** Words at other places where some programs put the id. */
export const furtherWordsIn = (base: string): string[] =>
  [AFTER_DAY, AT_END].flatMap((form) => form.exec(base)?.[1] ?? [])

/** The video that a text names, if the text is exactly one id or address of the platform. */
export function videoIn(text: string, { platform }: { platform: Pick<Platform, 'targetsIn'> }): string | undefined {
  const [target, ...others] = platform.targetsIn(text)
  return target?.type === 'video' && others.length === 0 ? target.id : undefined
}
