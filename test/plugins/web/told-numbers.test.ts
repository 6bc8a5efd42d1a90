/** Numbers that texts of the page tell are those that the code goes by. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAX_WINDOW } from 'archivolt'
import de from '../../../plugins/web/page/texts/languages/de.json' with { type: 'json' }
import en from '../../../plugins/web/page/texts/languages/en.json' with { type: 'json' }
import { ROOT } from '../../support/sources.ts'

const NUMBER_WORDS: Record<string, number> = { six: 6, sechs: 6 }

/** All numbers of a text, grouped or as a word. */
const numbersIn = (text: unknown): number[] =>
  [...String(text).matchAll(/\d[\d.,]*\d|\d|\b[a-z]+\b/g)].flatMap(([found]) => {
    const number = NUMBER_WORDS[found] ?? Number(found.replace(/[.,]/g, ''))
    return Number.isNaN(number) ? [] : [number]
  })

const tells = (key: keyof typeof en, number: number): void => {
  for (const [language, texts] of Object.entries({ en, de }))
    assert.deepEqual(numbersIn(texts[key]), [number], `${key} in ${language}`)
}

test('the page says where a list ends', () => tells('list.cut', MAX_WINDOW))

test('the page says how often an item that is not offered as wanted is looked at', async () => {
  const worker = await readFile(join(ROOT, 'plugins/platform/worker_files.py'), 'utf8')
  const [, hours] = /^NOT_OFFERED_AGAIN_SECONDS = (\d+) \* 3600$/m.exec(worker)!

  tells('downloads.class.not_offered.text', Number(hours))
})
