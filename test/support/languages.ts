/** The languages of the page: each is one file, and all must pass the same tests. */
import { readdir, readFile } from 'node:fs/promises'
import type { Entry } from '../../config/text-values.ts'

const FOLDER = new URL('../../plugins/web/page/texts/languages/', import.meta.url)

export type Texts = Record<string, Entry>

export const textFile = (language: string): Promise<string> => readFile(new URL(`${language}.json`, FOLDER), 'utf8')
export const textsIn = async (language: string): Promise<Texts> => JSON.parse(await textFile(language)) as Texts

/** As BCP 47 names. */
export const languages = async (): Promise<string[]> =>
  (await readdir(FOLDER)).filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length))

export async function languagesBesideEnglish(): Promise<Map<string, Texts>> {
  const others = (await languages()).filter((language) => language !== 'en')
  return new Map(await Promise.all(others.map(async (language) => [language, await textsIn(language)] as const)))
}
