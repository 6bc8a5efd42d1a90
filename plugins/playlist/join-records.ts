/** Builds the record of contract 5.3 from the stored text, the rank, and the owner of a custom playlist. */
import { type Hit, roundScore, textUnder, type View, withKeys } from 'archivolt'
import type { App } from './app.ts'
import type { CustomRows } from './custom-rows.ts'
import type { PlaylistDoc } from './schema.ts'
import type { Twins } from './twins.ts'

export type PlaylistRecords = ReturnType<typeof openPlaylistRecords>

export function openPlaylistRecords(
  app: App,
  rows: Pick<CustomRows, 'ownersOf' | 'hidden'>,
  twins: Pick<Twins, 'shown'>,
) {
  const indexName = `${app.settings.prefix}_playlist`

  function join(text: string, whose: object, score = 0): string {
    return withKeys(twins.shown(text), Object.assign({}, whose, { _index: indexName, _score: roundScore(score) }))
  }

  /** In place of a picture that the view does not show: that of the first video that it shows. */
  function withShownPicture(text: string): string {
    const doc = JSON.parse(text) as PlaylistDoc
    const first = doc.playlist_entries.find(({ downloaded }) => downloaded)
    return first ? JSON.stringify({ ...doc, playlist_thumbnail: app.media.artUrl('video', first.platform_id) }) : text
  }

  return {
    /** Records of documents that an account with this view has read, without those that nobody may see. */
    of(hits: ReadonlyArray<Omit<Hit, 'score'> & { score?: number }>, view: View | undefined): string[] {
      const isPictured = app.media.showsArt('playlist', view)
      const custom = new Set(
        hits.filter(({ text }) => textUnder(text, 'playlist_type') === 'custom').map(({ id }) => id),
      )
      // One read for all.
      const owners = custom.size > 0 ? rows.ownersOf([...custom]) : undefined
      const hidden = new Set(custom.size > 0 ? rows.hidden() : [])
      return hits.flatMap(({ id, text, score }) =>
        hidden.has(id)
          ? []
          : join(
              isPictured ? text : withShownPicture(text),
              custom.has(id) ? { playlist_owner: owners?.get(id) ?? null, playlist_visibility: 'shared' } : {},
              score,
            ),
      )
    },

    ofPrivate: (text: string, userId: number) => join(text, { playlist_owner: userId, playlist_visibility: 'private' }),
  }
}
