/**
 * Writes the page's texts as files for browsers: for each language one with the texts of Home and one with all others,
 * which is loaded with the first other view. The English texts of Home are in the script itself.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'
import type { Entry } from './text-values.ts'

type Catalogue = Record<string, Entry>

/** The data of a language in the HTML document. */
interface BuiltLanguage {
  /** Its file with the texts of Home; English has none. */
  first?: string
  more: string
  direction: 'ltr' | 'rtl'
}

interface Cut {
  first: Catalogue
  more: Catalogue
}

/** Each JSON file in it is a language: `de.json`, `pt-BR.json`. */
const LANGUAGES = 'texts/languages'
const BASIS = 'en'
/** Descriptions of tasks. Only Settings shows them, although `task.${name}` in Home matches their keys, too. */
const DESCRIPTION = /^task\..+\.does$/
/** A view other than Home, whose texts can be loaded with it. */
const LATER = /^views\/(?!home\.tsx$)/

/**
 * All modules that Home may need, including those loaded later; only other views are left out.
 * @param metafile  of a build of the page
 */
export function modulesOfHome({ inputs }: Metafile, from = 'app.tsx'): string[] {
  const seen = new Set([from])
  for (const path of seen)
    for (const { path: target, kind } of inputs[path]?.imports ?? [])
      if (target in inputs && !target.includes('node_modules/') && !(kind === 'dynamic-import' && LATER.test(target)))
        seen.add(target)
  return [...seen]
}

const languageFiles = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, LANGUAGES))).filter((name) => name.endsWith('.json'))

/** @param modules  modules whose texts are loaded first */
async function cutTexts(folder: string, modules: readonly string[]): Promise<Map<string, Cut>> {
  const isNamed = await keysIn(
    modules.filter((path) => path !== `${LANGUAGES}/${BASIS}.json`).map((path) => join(folder, path)),
  )
  const isFirst = (key: string) => isNamed(key) && !DESCRIPTION.test(key)
  const cut = new Map<string, Cut>()
  for (const file of await languageFiles(folder)) {
    const texts = JSON.parse(await readFile(join(folder, LANGUAGES, file), 'utf8')) as Catalogue
    const entries = Object.entries(texts)
    cut.set(basename(file, '.json'), {
      first: Object.fromEntries(entries.filter(([key]) => isFirst(key))),
      more: Object.fromEntries(entries.filter(([key]) => !isFirst(key))),
    })
  }
  return cut
}

/** Texts that look like keys, also composed ones: in `home.sort.${name}` any name is possible. */
async function keysIn(paths: readonly string[]): Promise<(key: string) => boolean> {
  const whole = new Set<string>()
  const composed: string[][] = []
  for (const path of paths)
    for (const [, text] of (await readFile(path, 'utf8')).matchAll(/['"`]((?:\$\{[^{}]*\}|[\w.-])+)['"`]/g)) {
      const parts = text!.split(/\$\{[^{}]*\}/)
      if (parts.length === 1) whole.add(text!)
      else if (/\w\./.test(parts[0]!)) composed.push(parts)
    }
  return (key) => whole.has(key) || composed.some((parts) => isComposedOf(key, parts))
}

/** Whether it begins with the first part, ends with the last, and contains the others between them in order. */
function isComposedOf(key: string, parts: readonly string[]): boolean {
  let at = 0
  for (const [index, part] of parts.entries()) {
    const found = key.indexOf(part, at)
    if (found < 0 || (index === 0 && found > 0)) return false
    at = found + part.length
  }
  return key.endsWith(parts.at(-1)!)
}

/**
 * Replaces the English texts by those that these modules use; the others are in a separate file.
 * @param modules  called for each build
 */
export const firstTexts = (folder: string, modules: () => readonly string[]): Plugin => ({
  name: 'texts',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]languages[\\/]en\.json$/ }, async () => {
      const cut = await cutTexts(folder, modules())
      return {
        contents: JSON.stringify(cut.get(BASIS)!.first),
        loader: 'json',
        watchFiles: [
          ...(await languageFiles(folder)).map((name) => join(folder, LANGUAGES, name)),
          ...modules().map((path) => join(folder, path)),
        ],
      }
    }),
})

/**
 * Writes the files of all languages.
 * @returns  the data of each language in the HTML document
 */
export async function writeTexts(
  folder: string,
  outdir: string,
  modules: readonly string[],
): Promise<Record<string, BuiltLanguage>> {
  const built: Record<string, BuiltLanguage> = {}
  for (const [language, { first, more }] of await cutTexts(folder, modules))
    built[language] = {
      ...(language !== BASIS && { first: await writeOne(outdir, language, first) }),
      more: await writeOne(outdir, `${language}-more`, more),
      direction: directionOf(language),
    }
  return built
}

async function writeOne(outdir: string, name: string, catalogue: Catalogue): Promise<string> {
  const code = `export default ${JSON.stringify(catalogue)}\n`
  const hash = createHash('sha256').update(code).digest('hex').slice(0, 8).toUpperCase()
  await writeFile(join(outdir, `${name}-${hash}.js`), code)
  return `${name}-${hash}.js`
}

interface TextInfo {
  direction: 'ltr' | 'rtl'
}

/** The writing direction of a language, from ICU. Node 26 has only the method, Node 20 only the property. */
function directionOf(language: string): 'ltr' | 'rtl' {
  const locale = new Intl.Locale(language) as Intl.Locale & { textInfo: TextInfo; getTextInfo?: () => TextInfo }
  return (locale.getTextInfo?.() ?? locale.textInfo).direction
}
