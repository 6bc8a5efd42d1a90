/** Wraps ready JSON texts in `{ data, config }` and `{ data, paginate, config }`, without parsing the records. */
import { AppError } from '../base/error.ts'
import { say } from '../base/say.ts'
import { listOf, objectOf, withKeys } from '../base/splice.ts'
import type { Preferences } from '../ledger/preferences.ts'
import type { ItemForm, PageForm, Plugin, Reply } from '../plugin/define.ts'
import { isBeyond, type PageWindow, pageBlock } from './pagination.ts'
import { JsonText, jsonOf, Listing } from './reply.ts'

type Run = (page: PageWindow) => Promise<Reply> | Reply

export function openEnvelope(preferences: Preferences, parts: ReadonlyArray<NonNullable<Plugin['envelope']>>) {
  let config: string | undefined
  preferences.watch(() => (config = undefined))
  const configText = () => (config ??= JSON.stringify(Object.assign({}, ...parts.map((part) => part(preferences)))))

  return {
    item(value: Reply, form: ItemForm): JsonText {
      if (value === undefined) throw new TypeError('A route with the envelope `item` returns a record')
      const text = jsonOf(value)
      const enveloped = { data: text, config: configText() }
      if (form === 'bare') return new JsonText(text)
      return new JsonText(form === 'merged' ? withKeys(text, {}, enveloped) : objectOf(enveloped))
    },

    /** @throws not_found  a page after the first is empty, and `form` is `strict` */
    async page(page: PageWindow, params: string, form: PageForm, run: Run): Promise<JsonText> {
      // Past the last window there are no records. The handler runs nevertheless: an unknown list must answer 404.
      const asked = isBeyond(page) ? { ...page, from: 0, size: 1 } : page
      const value = await run(asked)
      if (!(value instanceof Listing))
        throw new TypeError('A route with the envelope `page` returns listing(texts, total)')
      const { total } = value
      const texts = asked === page ? value.texts : []
      const paginate = pageBlock(page, total, params)
      if (texts.length === 0 && page.number > 1 && form === 'strict')
        throw new AppError('not_found', say`Page ${{ number: page.number }} of this list has no results`, {
          extra: { data: [], paginate },
        })
      return new JsonText(objectOf({ data: listOf(texts), paginate: JSON.stringify(paginate), config: configText() }))
    },
  }
}
