/** Portrait: the pictures that people choose for themselves. Which they have, the ledger keeps with their accounts. */
import { definePlugin } from 'archivolt'
import { changePicture, removePicture, showPicture, showPictureOfDevice } from './routes.ts'

export default definePlugin({
  name: 'portrait',
  needs: ['media'],
  routes: [showPicture, changePicture, removePicture, showPictureOfDevice],
})
