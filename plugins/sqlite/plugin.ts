/** Keeps the documents in one SQLite file beside the ledger: the index that needs nothing else. */
import { definePlugin } from 'archivolt'
import { lookAtIndex } from './check-index.ts'
import { openEmbedded } from './embedded.ts'

export default definePlugin({
  name: 'sqlite',
  indexAdapter: { title: 'the embedded index', target: 'embedded', open: openEmbedded },
  checks: lookAtIndex,
})
