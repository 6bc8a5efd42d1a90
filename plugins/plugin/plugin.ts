/** Which plugins there are: on or off, from where, and what last went wrong in each. */
import { definePlugin } from 'archivolt'
import { listPlugins } from './routes.ts'

export default definePlugin({ name: 'plugin', routes: [listPlugins] })
