/** The languages of the page beside English: each is one file, and what is asked of one is asked of all. */
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const FOLDER = new URL('../../plugins/web/page/texts/languages/', import.meta.url)

type Texts = Record<string, string | { other: string }>

/** @returns by its BCP 47 name */
export async function languagesBesideEnglish(): Promise<Map<string, Texts>> {
  const files = (await readdir(FOLDER)).filter((name) => name !== 'en.ts')
  const read = files.map(async (name) => {
    const entryPoints = [fileURLToPath(new URL(name, FOLDER))]
    // Bundled tests run where nothing reads TypeScript, and which languages there are is known only then.
    const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: 'esm' })
    const code = Buffer.from(outputFiles[0]!.contents).toString('base64')
    const { default: texts } = (await import(`data:text/javascript;base64,${code}`)) as { default: Texts }
    return [name.slice(0, -3), texts] as const
  })
  return new Map(await Promise.all(read))
}
