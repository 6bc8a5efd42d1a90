/** Compares texts with words and patterns. The time is linear in the text, whatever the pattern is. */
import { errors, fold, say, type Words } from 'archivolt'
import { RE2JS, RE2Set } from 're2js'
import type { Text } from './schema.ts'

/** Number of characters of a text that are compared; the platform's descriptions are shorter. */
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

/** Caches a single text, because the rules compare the same title one after the other. */
let last = { given: '', folded: '' }
function foldedOf(given: string): string {
  if (last.given !== given) last = { given, folded: fold(given.slice(0, LONGEST_TEXT)) }
  return last.folded
}

export type Comparisons = ReturnType<typeof openComparisons>

/**
 * Compares one kind of text with the words and patterns of all rules. Each text is searched for all patterns in one
 * pass.
 */
export function openComparisons() {
  const patterns: string[] = []
  let set: RE2Set | undefined
  let last = { given: '', found: [] as readonly number[] }

  function foundIn(given: string): readonly number[] {
    if (!set) {
      set = new RE2Set()
      for (const pattern of patterns) set.add(pattern)
      last = { given: '', found: set.match('') }
    }
    if (last.given !== given) last = { given, found: set.match(given.slice(0, LONGEST_TEXT)) }
    return last.found
  }

  return {
    /** Compares folded words, or searches for the pattern. @throws bad_request  with advice on what to write instead */
    add(text: Text, path: string): (given: string) => boolean {
      if ('words' in text) {
        const words = text.words.map((word) => fold(word.trim())).filter((word) => word !== '')
        if (words.length === 0) throw errors.wrongField(`${path}.words`, 'must not be blank')
        return (given) => {
          const folded = foldedOf(given)
          return words.some((word) => folded.includes(word))
        }
      }
      check(text.pattern, `${path}.pattern`)
      const index = patterns.push(text.pattern) - 1
      set = undefined
      return (given) => foundIn(given).includes(index)
    },
  }
}

function check(pattern: string, path: string): void {
  // Escaped characters and character classes cannot start such a part.
  const bare = pattern.replace(/\\[^1-9k]/g, '').replace(/\[\^?\]?[^\]]{0,300}\]/g, '')
  const [, advice] = UNBOUNDED.find(([form]) => form.test(bare)) ?? []
  if (advice !== undefined) throw errors.wrongField(path, advice)
  try {
    RE2JS.compile(pattern)
  } catch (error) {
    throw errors.wrongField(
      path,
      say`is not a valid pattern: ${{ reason: error instanceof Error ? error.message : String(error) }}`,
    )
  }
}
