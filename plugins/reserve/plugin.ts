/** Keeps some space free for people on a full disk. */
import { definePlugin } from 'archivolt'
import { openReserve } from './reserve.ts'

export default definePlugin({ name: 'reserve', reserve: { open: openReserve } })
