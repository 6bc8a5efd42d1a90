/** Lists the plugins: state, origin, last failure, and the pages that they bring. */
import { definePlugin } from 'archivolt'
import { listPages, listPlugins } from './routes.ts'

export default definePlugin({ name: 'plugin', routes: [listPlugins, listPages] })
