/** Names of accounts that people could take for each other: by case, by form of Unicode, by letters that look alike. */
import { ALIKE } from './alike-letters.ts'

/** Within ASCII: as they look in one font or another. */
const ALIKE_IN_ASCII: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', i: 'l', I: 'l', m: 'rn', M: 'rn' }

const LOOKS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ALIKE).flatMap(([look, letters]) => [...letters].map((letter) => [letter, look] as const)),
  ...Object.entries(ALIKE_IN_ASCII),
])

const look = (text: string): string => [...text].map((letter) => LOOKS.get(letter) ?? letter).join('')
const plain = (name: string): string => name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')

/** What it looks like: as it is written, and in small letters, since Cyrillic В looks like B and в does not. */
function looksOf(name: string): readonly string[] {
  const text = plain(name)
  return [look(look(text).toLowerCase()), look(text.toLowerCase())]
}

/** Whether somebody could take one for the other. The same name is alike, too. */
export function areAlike(name: string): (other: string) => boolean {
  const looks = looksOf(name)
  return (other) => looksOf(other).some((text) => looks.includes(text))
}

/** Written together in one name: that of Japanese, Chinese and Korean, with Latin letters. */
const EAST_ASIAN =
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]*$/u
const SCRIPTS_THAT_LOOK_ALIKE = [
  ...[/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u],
  ...[/\p{Script=Georgian}/u, /\p{Script=Coptic}/u, /\p{Script=Lisu}/u, /\p{Script=Canadian_Aboriginal}/u],
]

/** Whether it mixes letters of scripts that nobody writes together: `раypal`, half Cyrillic. */
export function mixesScripts(name: string): boolean {
  const letters = plain(name).replace(/[\p{Script=Common}\p{Script=Inherited}]/gu, '')
  if (EAST_ASIAN.test(letters)) return false
  const known = SCRIPTS_THAT_LOOK_ALIKE.filter((script) => script.test(letters))
  const one = known[0]
  return known.length > 1 || (one !== undefined && [...letters].some((letter) => !one.test(letter)))
}
