/** Stores the documents in one SQLite file next to the ledger: the default index, which needs no other program. */
import { definePlugin } from 'archivolt'
import { checkIndexFile } from './check-index.ts'
import { openEmbedded } from './embedded.ts'

export default definePlugin({
  name: 'sqlite',
  indexAdapter: { title: 'the embedded index', target: 'embedded', open: openEmbedded },
  checks: checkIndexFile,
})
