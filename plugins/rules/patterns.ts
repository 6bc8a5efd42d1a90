/** Compares texts with words and patterns, in time that is linear in the text, whoever wrote the pattern. */
import { errors, fold, say, type Words } from 'archivolt'
import { RE2JS } from 're2js'
import type { Text } from './schema.ts'

/** Only this many characters of a text are compared; descriptions of the platform are shorter. */
const LONGEST_TEXT = 5000

const UNBOUNDED: ReadonlyArray<[form: RegExp, advice: Words]> = [
  [
    /\(\?<?[=!]/,
    say`uses lookahead or lookbehind, which can take forever: remove that part, and add a condition that the title must not match`,
  ],
  [/\\[1-9]|\\k[<{']|\(\?P=/, say`uses a backreference, which can take forever: write the repeated part out`],
  [
    /\(\?>|[*+?}]\+/,
    say`uses a possessive quantifier or an atomic group, which is not needed here: remove the additional + or ?>`,
  ],
]

/** A cache of one: rules compare the same title one after the other. */
let last = { given: '', folded: '' }
function foldedOf(given: string): string {
  if (last.given !== given) last = { given, folded: fold(given.slice(0, LONGEST_TEXT)) }
  return last.folded
}

/** Compares folded words, or searches for the pattern. @throws bad_request  says what to write instead */
export function comparison(text: Text, path: string): (given: string) => boolean {
  if ('words' in text) {
    const words = text.words.map((word) => fold(word.trim())).filter((word) => word !== '')
    if (words.length === 0) throw errors.wrongField(`${path}.words`, 'must not be blank')
    return (given) => {
      const folded = foldedOf(given)
      return words.some((word) => folded.includes(word))
    }
  }
  const pattern = compiled(text.pattern, `${path}.pattern`)
  return (given) => pattern.test(given.slice(0, LONGEST_TEXT))
}

function compiled(pattern: string, path: string): RE2JS {
  // Escaped characters and character classes cannot start such a part.
  const bare = pattern.replace(/\\[^1-9k]/g, '').replace(/\[\^?\]?[^\]]{0,300}\]/g, '')
  const [, advice] = UNBOUNDED.find(([form]) => form.test(bare)) ?? []
  if (advice !== undefined) throw errors.wrongField(path, advice)
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw errors.wrongField(
      path,
      say`is not a valid pattern: ${{ reason: error instanceof Error ? error.message : String(error) }}`,
    )
  }
}
