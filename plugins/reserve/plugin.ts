/** Reserves some space on the disk for people, which is released when the disk is full. */
import { definePlugin } from 'archivolt'
import { openReserve } from './reserve.ts'

export default definePlugin({ name: 'reserve', reserve: { open: openReserve } })
