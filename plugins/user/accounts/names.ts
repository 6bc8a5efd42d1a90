/** Detects names of accounts that people could confuse: by case, Unicode form, or similar letters. */
import { ALIKE } from './alike-letters.ts'

/** Within ASCII: letters that look alike in some fonts. */
const ALIKE_IN_ASCII: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', i: 'l', I: 'l', m: 'rn', M: 'rn' }

const SHAPES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ALIKE).flatMap(([shape, letters]) => [...letters].map((letter) => [letter, shape] as const)),
  ...Object.entries(ALIKE_IN_ASCII),
])

const shapeOf = (text: string): string => [...text].map((letter) => SHAPES.get(letter) ?? letter).join('')
const plain = (name: string): string => name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')

/** The skeleton of the name as written and in lower case, because Cyrillic В resembles B, but в does not resemble b. */
function shapesOf(name: string): readonly string[] {
  const text = plain(name)
  return [shapeOf(shapeOf(text).toLowerCase()), shapeOf(text.toLowerCase())]
}

/** Whether two names could be confused. Equal names count, too. */
export function areAlike(name: string): (other: string) => boolean {
  const shapes = shapesOf(name)
  return (other) => shapesOf(other).some((text) => shapes.includes(text))
}

/** Scripts that are used together: Japanese, Chinese and Korean with Latin letters. */
const EAST_ASIAN =
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]*$/u
const SCRIPTS_THAT_LOOK_ALIKE = [
  ...[/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u],
  ...[/\p{Script=Georgian}/u, /\p{Script=Coptic}/u, /\p{Script=Lisu}/u, /\p{Script=Canadian_Aboriginal}/u],
]

/** Whether a name mixes letters of scripts that are not used together: `раypal`, half Cyrillic. */
export function mixesScripts(name: string): boolean {
  const letters = plain(name).replace(/[\p{Script=Common}\p{Script=Inherited}]/gu, '')
  if (EAST_ASIAN.test(letters)) return false
  const known = SCRIPTS_THAT_LOOK_ALIKE.filter((script) => script.test(letters))
  const one = known[0]
  return known.length > 1 || (one !== undefined && [...letters].some((letter) => !one.test(letter)))
}
