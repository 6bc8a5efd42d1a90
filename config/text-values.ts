/**
 * Lists the values that each text of the page takes, from the English texts, for the compiler, which knows the keys of
 * a JSON file but not the content of its texts. Run it after a change of a text with braces or plural forms.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Entry = string | Record<string, string>

const TEXTS = fileURLToPath(new URL('../plugins/web/page/texts/', import.meta.url))
const HEAD =
  '/** Which values each text takes. Written by config/text-values.ts: do not edit. */\nexport interface TextValues {\n'

/** Without repetitions, in the order of the text. */
export const namesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)),
]

/** The counted value selects the plural form, even if the text does not show it. */
export const valuesOf = (entry: Entry): string[] =>
  typeof entry === 'string' ? namesIn(entry) : [...new Set(['count', ...namesIn(entry['other'] ?? '')])]

export const VALUES_FILE = join(TEXTS, 'values.ts')

/** The current text of the file. */
export async function writtenValues(): Promise<string> {
  const english = JSON.parse(await readFile(join(TEXTS, 'languages/en.json'), 'utf8')) as Record<string, Entry>
  const lines = Object.entries(english).flatMap(([key, entry]) => {
    const values = valuesOf(entry).map((name) => `'${name}'`)
    return values.length > 0 ? [`  '${key}': ${values.join(' | ')}\n`] : []
  })
  return `${HEAD}${lines.join('')}}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(VALUES_FILE, await writtenValues())
