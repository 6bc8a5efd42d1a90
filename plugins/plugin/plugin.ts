/** Which plugins there are: on or off, from where, what last went wrong in each; and the pages that they bring. */
import { definePlugin } from 'archivolt'
import { listPages, listPlugins } from './routes.ts'

export default definePlugin({ name: 'plugin', routes: [listPlugins, listPages] })
