/** Which video a file is of: what its name says, and what a text stands for on the platform. */
import type { Platform } from '../platform/types.ts'

const IN_BRACKETS = /\[([^[\]]+)\]/g
/** As TubeArchivist did until 0.4. */
const AFTER_DAY = /^\d{8}_([A-Za-z0-9_-]{11})_/
/** As youtube-dl named files. */
const AT_END = /-([A-Za-z0-9_-]{11})$/

/**
 * Words in brackets, and the bare name: the last brackets first, as titles have some too.
 * @param base  without its ending
 */
export const wordsIn = (base: string): string[] => [...bracketsIn(base), base]

export const bracketsIn = (base: string): string[] =>
  [...base.matchAll(IN_BRACKETS)].map(([, word = '']) => word).reverse()

/** Words at other places where some programs put an id, and others do not. */
export const furtherWordsIn = (base: string): string[] =>
  [AFTER_DAY, AT_END].flatMap((form) => form.exec(base)?.[1] ?? [])

/** The video that a text stands for: an id or an address of the platform, and nothing else. */
export function videoIn(text: string, { platform }: { platform: Pick<Platform, 'targetsIn'> }): string | undefined {
  const [target, ...others] = platform.targetsIn(text)
  return target?.type === 'video' && others.length === 0 ? target.id : undefined
}
