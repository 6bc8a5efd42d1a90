/** What is made of films so that they play well: copies for browsers that do not play them, and seek previews. */
import { definePlugin } from 'archivolt'
import type { App } from './app.ts'
import { type Copies, openCopies } from './copies/copies.ts'
import { makeCopy } from './copies/make.ts'
import { dropCopy, showCopy, showCopyFile, startCopy } from './copies/routes.ts'
import { playback } from './preferences.ts'
import { makePreviews } from './previews/make.ts'
import { openPreviews, type Previews } from './previews/previews.ts'
import { showPreviews, showSheet, wantPreviews } from './previews/routes.ts'

/** Either side was replaced by an older one. */
async function dropUnknown({ copies, previews, videos }: App): Promise<void> {
  await copies.dropUnknown((ids) => videos.known(ids))
  await previews.dropUnknown((ids) => videos.known(ids))
}

export default definePlugin({
  name: 'playable',
  // library: its migrations have made the table library_preview.
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
    // Its file is another one now.
    'video.added':
      ({ copies, previews }) =>
      async ({ id }) => {
        await copies.drop([id])
        await previews.drop([id])
      },
    'index.replaced': (app) => () => dropUnknown(app),
    'ledger.replaced': (app) => () => dropUnknown(app),
  },
})

declare module 'archivolt' {
  interface Services {
    playable: {
      /** Copies that play, of films that some browsers do not. */
      copies: Copies
      /** Seek previews: small pictures of a film, in sheets. */
      previews: Previews
    }
  }
}
