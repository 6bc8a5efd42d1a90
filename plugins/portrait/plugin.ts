/** Pictures of users over HTTP; the ledger stores them with their accounts. */
import { definePlugin } from 'archivolt'
import { changePicture, removePicture, showPicture, showPictureOfDevice } from './routes.ts'

export default definePlugin({
  name: 'portrait',
  needs: ['media'],
  routes: [showPicture, changePicture, removePicture, showPictureOfDevice],
})
