/** Numbers in the page's texts are those that the code uses. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAX_WINDOW } from 'archivolt'
import de from '../../../plugins/web/page/texts/languages/de.json' with { type: 'json' }
import en from '../../../plugins/web/page/texts/languages/en.json' with { type: 'json' }
import { ROOT } from '../../support/sources.ts'

const NUMBER_WORDS: Record<string, number> = { six: 6, sechs: 6 }

/** All numbers of a text, with thousands separators or as a word. */
const numbersIn = (text: unknown): number[] =>
  [...String(text).matchAll(/\d[\d.,]*\d|\d|\b[a-z]+\b/g)].flatMap(([found]) => {
    const number = NUMBER_WORDS[found] ?? Number(found.replace(/[.,]/g, ''))
    return Number.isNaN(number) ? [] : [number]
  })

const tells = (key: keyof typeof en, number: number): void => {
  for (const [language, texts] of Object.entries({ en, de }))
    assert.deepEqual(numbersIn(texts[key]), [number], `${key} in ${language}`)
}

test('the page states the limit of a list', () => tells('list.cut', MAX_WINDOW))

test('the page states how often an item is checked whose wanted quality is not offered', async () => {
  const worker = await readFile(join(ROOT, 'plugins/platform/worker_files.py'), 'utf8')
  const [, hours] = /^NOT_OFFERED_AGAIN_SECONDS = (\d+) \* 3600$/m.exec(worker)!

  tells('downloads.class.not_offered.text', Number(hours))
})
