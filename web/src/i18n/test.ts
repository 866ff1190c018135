// English words for tests of components.
import './more';
