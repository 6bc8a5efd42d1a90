/** Helps films play well: copies for browsers that do not play the original, and seek previews. */
import { definePlugin } from 'archivolt'
import type { App } from './app.ts'
import { type Copies, openCopies } from './copies/copies.ts'
import { makeCopy } from './copies/make.ts'
import { dropCopy, showCopy, showCopyFile, startCopy } from './copies/routes.ts'
import { playback } from './preferences.ts'
import { makePreviews } from './previews/make.ts'
import { openPreviews, type Previews } from './previews/previews.ts'
import { showPreviews, showSheet, wantPreviews } from './previews/routes.ts'

/** Called when the film of a video was replaced. */
const dropMade =
  ({ copies, previews }: App) =>
  async ({ id }: { id: string }): Promise<void> => {
    await copies.drop([id])
    await previews.drop([id])
  }

/** Called after the index or the ledger was replaced. */
async function dropUnknown({ copies, previews, videos }: App): Promise<void> {
  await copies.dropUnknown((ids) => videos.known(ids))
  await previews.dropUnknown((ids) => videos.known(ids))
}

export default definePlugin({
  name: 'playable',
  // library's migrations create the table library_preview.
  needs: ['media', 'video', 'library'],
  lanes: { copy: 1, preview: 1 },
  preferences: { playback },
  services: (app) => ({ copies: openCopies(app), previews: openPreviews(app) }),
  async setup({ copies, previews }) {
    await copies.begin()
    await previews.begin()
  },
  routes: [showCopy, startCopy, dropCopy, showCopyFile, showPreviews, wantPreviews, showSheet],
  tasks: [makeCopy, makePreviews],
  implements: {
    'video.keys': (app) => (ids) => app.copies.keysOf(ids),
    'video.storyboard': (app) => async (id, storyboard) => {
      if (await app.previews.offer(id, storyboard)) await app.jobs.start(makePreviews)
    },
    'video.remove': ({ videos, copies, previews }) =>
      videos.removal(async (ids, step) => {
        await step('copy.drop', () => copies.drop(ids))
        await step('preview.drop', () => previews.drop(ids))
      }),
  },
  on: {
    'video.added': dropMade,
    'video.changed': (app) => async (change) => {
      if (change.what === 'file') await dropMade(app)(change)
    },
    'index.replaced': (app) => () => dropUnknown(app),
    'ledger.replaced': (app) => () => dropUnknown(app),
  },
})

declare module 'archivolt' {
  interface Services {
    playable: {
      /** Copies of films for browsers that do not play the original. */
      copies: Copies
      /** Seek previews: small pictures of a film, in sheets. */
      previews: Previews
    }
  }
}
